/** Values derived from another one: with a part left out, changed or emptied. */
import { type StructuralSchema, validate } from '@reeve/crd'
import fc from 'fast-check'
import { arbitraryFor } from './arbitrary-for.ts'

/** Where something can be left out: optional fields, keys of maps and items of lists. */
export type RemovablePath = readonly (string | number)[]

/**
 * Everything in `value` that may be removed without making it invalid.
 *
 * @example
 * removablePaths(schema, { image: 'nginx', env: [{ name: 'A' }] }) // [['env'], ['env', 0]]
 */
export function removablePaths(schema: StructuralSchema, value: unknown): readonly RemovablePath[] {
  const candidates: RemovablePath[] = []
  collect(schema, value, [], candidates)
  return candidates.filter((path) => validate(schema, without(value, path)).length === 0)
}

function collect(schema: StructuralSchema, value: unknown, path: RemovablePath, found: RemovablePath[]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      found.push([...path, index])
      collect(schema.items ?? {}, item, [...path, index], found)
    }
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    const shared = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
    found.push([...path, name])
    collect(schema.properties?.[name] ?? shared, field, [...path, name], found)
  }
}

/** A value with one part replaced. */
export interface ChangedValue {
  readonly path: RemovablePath
  readonly value: unknown
}

/**
 * `value` with each single word, number or switch in it replaced by another one that the schema accepts, one at a time.
 *
 * @param count how many other values of each; of a choice, all
 *
 * @example
 * changedValues(schema, { image: 'nginx', replicas: 2 }, 1) // [{ path: ['image'], value: … }, { path: ['replicas'], … }]
 */
export function changedValues(
  schema: StructuralSchema,
  value: unknown,
  seed: number,
  count = 1,
): readonly ChangedValue[] {
  return leavesOf(schema, value, []).flatMap(({ path, field, leaf }) => {
    const samples = fc.sample(arbitraryFor(field), { seed, numRuns: 20 })
    const candidates = count > 1 ? [...(field.enum ?? []), ...samples] : samples
    return [...new Set(candidates)]
      .filter((other) => other !== leaf)
      .map((other) => ({ path, value: replaced(value, path, other) }))
      .filter((changed) => validate(schema, changed.value).length === 0)
      .slice(0, count > 1 ? Math.max(count, field.enum?.length ?? 0) : 1)
  })
}

/** What counts as empty, by type. */
const EMPTY: Readonly<Record<string, unknown>> = {
  object: {},
  array: [],
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
}

/**
 * `value` with each part replaced by an empty one (`{}`, `[]`, `''`, `0`, `false`) where the schema accepts that, and
 * with each field that the schema has and the value has not, added as an empty one.
 *
 * @example
 * emptiedValues(schema, { image: 'nginx', env: [{ name: 'A' }] }) // [{ path: ['env'], value: { image: 'nginx', env: [] } }]
 */
export function emptiedValues(schema: StructuralSchema, value: unknown): readonly ChangedValue[] {
  return placesFor(schema, value, []).flatMap(({ path, field }) => {
    if (field.enum !== undefined || field.type === undefined) return []
    const emptied = replaced(value, path, EMPTY[field.type])
    const isSame = JSON.stringify(emptied) === JSON.stringify(value)
    return isSame || validate(schema, emptied).length > 0 ? [] : [{ path, value: emptied }]
  })
}

/** Samples from which the fullest value of a field is taken. */
const SAMPLES = 12

/**
 * `value` with each field added that the schema has and the value has not, one at a time, as full as the schema allows.
 *
 * @example
 * addedValues(schema, { image: 'nginx' }, 1) // [{ path: ['env'], value: { image: 'nginx', env: [{ name: 'a' }] } }]
 */
export function addedValues(schema: StructuralSchema, value: unknown, seed: number): readonly ChangedValue[] {
  return placesFor(schema, value, [])
    .filter(({ isAbsent }) => isAbsent)
    .flatMap((place) => added(schema, value, place, seed))
}

/**
 * The same for each field below an object that the value has not: the object is added with that field and with what is
 * required beside it.
 *
 * @example
 * deeplyAddedValues(schema, { image: 'nginx' }, 1) // [{ path: ['probe', 'port'], value: { image: 'nginx', probe: { port: 3 } } }]
 */
export function deeplyAddedValues(schema: StructuralSchema, value: unknown, seed: number): readonly ChangedValue[] {
  const below = (base: unknown, { path, field }: Place): readonly ChangedValue[] => {
    if (field.properties === undefined) return []
    const required = fc.sample(arbitraryFor(onlyRequired(field)), { seed, numRuns: 1 })[0]
    const within = replaced(base, path, required)
    return placesFor(field, required, path)
      .filter(({ isAbsent }) => isAbsent)
      .flatMap((place) => [...added(schema, within, place, seed), ...below(within, place)])
  }
  return placesFor(schema, value, [])
    .filter(({ isAbsent }) => isAbsent)
    .flatMap((place) => below(value, place))
}

/** `value` with one field added, if the schema accepts any value of it. */
function added(
  schema: StructuralSchema,
  value: unknown,
  { path, field }: Place,
  seed: number,
): readonly ChangedValue[] {
  if (field.type === undefined && field['x-kubernetes-int-or-string'] !== true) return []
  const samples = fc.sample(arbitraryFor(field), { seed, numRuns: SAMPLES })
  const valid = samples
    .map((sample) => replaced(value, path, sample))
    .filter((candidate) => validate(schema, candidate).length === 0)
  const fullest = valid.toSorted((one, other) => JSON.stringify(other).length - JSON.stringify(one).length)[0]
  return fullest === undefined ? [] : [{ path, value: fullest }]
}

function onlyRequired(schema: StructuralSchema): StructuralSchema {
  const { properties = {}, required = [] } = schema
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => required.includes(name))),
  }
}

interface Place {
  readonly path: RemovablePath
  readonly field: StructuralSchema
  readonly isAbsent: boolean
}

/** All fields of a value, and those that its objects could have. */
function placesFor(schema: StructuralSchema, value: unknown, path: RemovablePath): readonly Place[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => placesFor(schema.items ?? {}, item, [...path, index]))
  if (typeof value !== 'object' || value === null) return []
  const { properties = {}, additionalProperties } = schema
  const shared = typeof additionalProperties === 'object' ? additionalProperties : {}
  const fields = value as Readonly<Record<string, unknown>>
  return [...new Set([...Object.keys(properties), ...Object.keys(fields)])].flatMap((name) => {
    const field = properties[name] ?? shared
    const place = { path: [...path, name], field, isAbsent: fields[name] === undefined }
    return [place, ...placesFor(field, fields[name], [...path, name])]
  })
}

interface Leaf {
  readonly path: RemovablePath
  readonly field: StructuralSchema
  readonly leaf: unknown
}

function leavesOf(schema: StructuralSchema, value: unknown, path: RemovablePath): readonly Leaf[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => leavesOf(schema.items ?? {}, item, [...path, index]))
  }
  if (typeof value !== 'object' || value === null) return [{ path, field: schema, leaf: value }]
  const shared = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
  return Object.entries(value).flatMap(([name, field]) =>
    leavesOf(schema.properties?.[name] ?? shared, field, [...path, name]),
  )
}

/** `value` with another part at a path. Objects around it that the value does not have are added. */
export function replaced(value: unknown, [first, ...rest]: RemovablePath, other: unknown): unknown {
  if (first === undefined) return other
  if (Array.isArray(value)) return value.map((item, index) => (index === first ? replaced(item, rest, other) : item))
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>
  return { ...fields, [first]: replaced(fields[first], rest, other) }
}

/** `value` with one part left out. */
export function without(value: unknown, [first, ...rest]: RemovablePath): unknown {
  if (first === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return rest.length === 0
      ? value.filter((_, index) => index !== first)
      : value.map((item, index) => (index === first ? without(item, rest) : item))
  }
  const { [first]: part, ...others } = value as Record<string, unknown>
  if (part === undefined) return value
  return rest.length === 0 ? others : { ...others, [first]: without(part, rest) }
}
