/** Quantities that the pattern of the schema admits, or that no schema has seen, and that are not quantities. */
import type { Problem, StructuralSchema } from '@reeve/crd'
import { isRecord, ownValue } from '@reeve/http'
import { isQuantity } from './quantity.ts'

/**
 * Lists the malformed quantities of an object, or of the part `field` of one.
 *
 * *Assumptions*: none about the object; invalid values are skipped, for other checks to report. Schemas do not change.
 */
export function quantityProblems(schema: StructuralSchema, value: unknown, field = ''): readonly Problem[] {
  // Nearly all objects have none, and conversion asks about every object of a list.
  return isMalformedIn(placesIn(schema), value) ? listProblems(schema, value, field) : []
}

function listProblems(schema: StructuralSchema, value: unknown, field: string): readonly Problem[] {
  if (value === undefined || value === null) return []
  if (isQuantityField(schema)) return isQuantity(value) ? [] : [malformed(field, value)]
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? value.flatMap((item, index) => listProblems(items, item, `${field}[${index}]`)) : []
  }
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, child]) => {
    const known = ownValue(schema.properties, name) ?? schema.additionalProperties
    return typeof known === 'object' ? listProblems(known, child, field === '' ? name : `${field}.${name}`) : []
  })
}

/** Where a schema has quantities: the rest of an object, most of it, need not be visited. */
type Places = 'here' | PlacesBelow | undefined

interface PlacesBelow {
  readonly items: Places
  /** Of the named properties, those with quantities. */
  readonly properties: readonly (readonly [string, Exclude<Places, undefined>])[]
  /** Of the members without a property of their name. */
  readonly others: Places
  readonly named: ReadonlySet<string>
}

/** By schema. This is a cache, not state: schemas never change. */
const places = new WeakMap<StructuralSchema, { readonly found: Places }>()

function placesIn(schema: StructuralSchema): Places {
  const known = places.get(schema)
  if (known !== undefined) return known.found
  const found = findPlaces(schema)
  places.set(schema, { found })
  return found
}

function findPlaces(schema: StructuralSchema): Places {
  if (isQuantityField(schema)) return 'here'
  const { items: itemSchema, properties: propertySchemas = {}, additionalProperties } = schema
  const items = itemSchema && findPlaces(itemSchema)
  const others = typeof additionalProperties === 'object' ? findPlaces(additionalProperties) : undefined
  const properties = Object.entries(propertySchemas).flatMap(([name, child]) => {
    const below = findPlaces(child)
    return below === undefined ? [] : [[name, below] as const]
  })
  if (items === undefined && others === undefined && properties.length === 0) return undefined
  return { items, properties, others, named: new Set(Object.keys(propertySchemas)) }
}

/** Whether {@link listProblems} would list anything. */
function isMalformedIn(within: Places, value: unknown): boolean {
  if (within === undefined || value === undefined || value === null) return false
  if (within === 'here') return !isQuantity(value)
  if (Array.isArray(value)) return value.some((item) => isMalformedIn(within.items, item))
  if (!isRecord(value)) return false
  const { properties, others, named } = within
  if (properties.some(([name, below]) => isMalformedIn(below, ownValue(value, name)))) return true
  return (
    others !== undefined && Object.keys(value).some((name) => !named.has(name) && isMalformedIn(others, value[name]))
  )
}

/** Ports and percentages are numbers or text, too, but have no pattern. */
const isQuantityField = (schema: StructuralSchema): boolean =>
  schema['x-kubernetes-int-or-string'] === true && schema.pattern !== undefined

function malformed(field: string, value: unknown): Problem {
  return { field, message: `${JSON.stringify(value)} is not a valid quantity; write it like 500m, 1Gi or 1e3` }
}
