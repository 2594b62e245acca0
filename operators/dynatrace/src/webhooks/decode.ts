/** Finds values that no rule can handle: those that the API server never sends, and numbers that its schema accepts. */
import { type AnyCrd, objectSchema, type Problem, type StructuralSchema } from '@reeve/crd'
import { isRecord, ownValue } from '@reeve/http'
import type { UnknownObject } from '@reeve/kube'
import { quantityProblems } from '../api/core/quantity-problems.ts'
import { decodingProblems } from '../api/validation/decoding-problems.ts'

/**
 * Lists the problems of an object; empty when it can be worked with. Of what was stored before, `isStored`, fields may be
 * missing that a newer schema requires.
 */
export type UnreadableParts = (object: UnknownObject, isStored?: boolean) => readonly Problem[]

/** What makes objects of one version unreadable. The schema is prepared here, once: that takes longer than a review. */
export function unreadableParts(crd: AnyCrd, version: string): UnreadableParts {
  const { group, kind } = crd
  const expected = `${group}/${version}`
  const { properties: { spec = {}, status = {} } = {} } = objectSchema(crd, version)
  return (object, isStored = false) => {
    if (object.apiVersion !== expected || object.kind !== kind) {
      const message = `expected ${kind} of ${expected}, not ${object.kind} of ${object.apiVersion}`
      return [{ field: '(root)', message }]
    }
    const problems: Problem[] = []
    const check: Check = { problems, isStored }
    // What is missing at the top of the spec is for the rules to say.
    checkTypes({ ...spec, required: [] }, object.spec, 'spec', check)
    checkTypes(status, object.status, 'status', check)
    if (problems.length > 0) return problems
    // What was stored with a malformed quantity must stay open to correction.
    const quantities = isStored ? [] : quantityProblems(spec, object.spec, 'spec')
    return quantities.length > 0 ? quantities : decodingProblems(object)
  }
}

interface Check {
  readonly problems: Problem[]
  readonly isStored: boolean
}

/** An unknown field does not prevent reading the rest, nor does a null, which counts as absent. */
function checkTypes(schema: StructuralSchema, value: unknown, field: string, check: Check): void {
  if (value === undefined || value === null || schema['x-kubernetes-int-or-string']) return
  if (!hasType(schema.type, value)) {
    check.problems.push({ field, message: `must be of type ${schema.type}` })
  } else if (Array.isArray(value)) {
    checkItems(schema, value, field, check)
  } else if (isRecord(value)) {
    checkMembers(schema, value, field, check)
  }
}

function checkItems({ items }: StructuralSchema, list: readonly unknown[], field: string, check: Check): void {
  if (items === undefined) return
  for (const [index, item] of list.entries()) {
    if (item === null) check.problems.push({ field: `${field}[${index}]`, message: 'must not be null' })
    else checkTypes(items, item, `${field}[${index}]`, check)
  }
}

function checkMembers(
  { required = [], properties, additionalProperties }: StructuralSchema,
  object: Readonly<Record<string, unknown>>,
  field: string,
  check: Check,
): void {
  const missing = check.isStored ? [] : required.filter((name) => (ownValue(object, name) ?? null) === null)
  for (const name of missing) check.problems.push({ field: `${field}.${name}`, message: 'is required' })
  for (const [name, child] of Object.entries(object)) {
    const known = ownValue(properties, name) ?? additionalProperties
    if (typeof known === 'object') checkTypes(known, child, `${field}.${name}`, check)
  }
}

function hasType(type: StructuralSchema['type'], value: unknown): boolean {
  if (type === undefined) return true
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

/**
 * A copy without members that are null, which to Kubernetes are absent. Items of lists stay.
 *
 * @example
 * withoutNulls({ spec: { proxy: null, args: [null] } }) // { spec: { args: [null] } }
 */
export function withoutNulls<T>(value: T): T {
  // Only members of objects are removed.
  return dropNulls(value) as T
}

/** What has no nulls stays the same value: most objects have none, and need no copy. */
function dropNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(dropNulls)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!isRecord(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    const kept = dropNulls(member)
    if (kept === member && member !== null) continue
    copy ??= { ...value }
    if (kept === null) delete copy[name]
    else copy[name] = kept
  }
  return copy ?? value
}
