/** Quantities that the pattern of the schema admits, or that no schema has seen, and that are not quantities. */
import type { Problem, StructuralSchema } from '@reeve/crd'
import { isRecord, ownValue } from '@reeve/kube'

/** Sign, digits and one suffix. As in Kubernetes, a fraction in the exponent is an error and digits may be absent. */
const QUANTITY = /^[+-]?\d*(?:\.\d*)?(?:[eE][+-]?(?<exponent>\d+)|[numkMGTPE]|[KMGTPE]i)?$/

/** Larger exponents are still quantities, but calculating with them takes minutes. */
const MAX_EXPONENT = 1_000

/**
 * Whether Kubernetes can decode a value as a quantity.
 *
 * @example
 * isQuantity('1.5Gi') // true
 * isQuantity('1e1.5') // false
 */
export function isQuantity(value: unknown): boolean {
  if (typeof value === 'number') return true
  if (typeof value !== 'string') return false
  const text = value.replace(/^ +| +$/g, '')
  const match = text === '' ? null : QUANTITY.exec(text)
  return match !== null && Number(match.groups?.exponent ?? 0) <= MAX_EXPONENT
}

/**
 * Lists the malformed quantities of an object, or of the part `field` of one.
 *
 * *Assumptions*: none about the object; invalid values are skipped, for other checks to report.
 */
export function quantityProblems(schema: StructuralSchema, value: unknown, field = ''): readonly Problem[] {
  if (value === undefined || value === null) return []
  if (isQuantityField(schema)) return isQuantity(value) ? [] : [malformed(field, value)]
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? value.flatMap((item, index) => quantityProblems(items, item, `${field}[${index}]`)) : []
  }
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, child]) => {
    const known = ownValue(schema.properties, name) ?? schema.additionalProperties
    return typeof known === 'object' ? quantityProblems(known, child, field === '' ? name : `${field}.${name}`) : []
  })
}

/** Ports and percentages are numbers or text, too, but have no pattern. */
const isQuantityField = (schema: StructuralSchema): boolean =>
  schema['x-kubernetes-int-or-string'] === true && schema.pattern !== undefined

function malformed(field: string, value: unknown): Problem {
  return { field, message: `${JSON.stringify(value)} is not a valid quantity; write it like 500m, 1Gi or 1e3` }
}
