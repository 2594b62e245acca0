/** What an API server does with an object before admission: it prunes, applies defaults and validates. */
import { type AnyCrd, applyDefaults, type Problem, type StructuralSchema, validate } from '@reeve/crd'
import { isRecord } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import { quantityProblems } from './core/quantity-problems.ts'
import { schemaOf } from './schema-of.ts'
import { decodingProblems } from './validation/decoding-problems.ts'

/** The outcome. */
export interface SchemaReview {
  /** The object as it would be stored. It matches the schema only when there are no problems. */
  readonly object: KubeObject
  /** Fields that the schema does not know; the server drops them and warns. */
  readonly unknownFields: readonly string[]
  /** Why the server rejects it; empty when it does not. */
  readonly problems: readonly Problem[]
}

/** Reviews an object of a known version, whatever it contains. */
export function reviewBySchema(crd: AnyCrd, version: string, object: KubeObject): SchemaReview {
  const schema = schemaOf(crd, version)
  const unknownFields: string[] = []
  const known = prune(schema, { ...object, metadata: withoutNulls(object.metadata) }, '', unknownFields)
  // Pruning removes members and keeps the rest, so that what was an object with metadata still is.
  const complete = applyDefaults(schema, known as KubeObject)
  return {
    object: complete,
    unknownFields,
    problems: [...metadataProblems(complete.metadata), ...contentProblems(schema, complete)],
  }
}

/** Quantities that fail the pattern of the schema are reported once. */
function contentProblems(schema: StructuralSchema, object: KubeObject): readonly Problem[] {
  const problems = validate(schema, object)
  const known = new Set(problems.map(({ field }) => field))
  const quantities = quantityProblems(schema, object).filter(({ field }) => !known.has(field))
  return [...problems, ...quantities, ...decodingProblems(object)]
}

/** Fields at the root that every kind has and no schema describes. */
const COMMON = new Set(['apiVersion', 'kind', 'metadata'])

function prune(schema: StructuralSchema, value: unknown, field: string, unknownFields: string[]): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? value.map((item, index) => prune(items, item, `${field}[${index}]`, unknownFields)) : value
  }
  if (!isRecord(value) || schema['x-kubernetes-preserve-unknown-fields']) return value
  const kept: (readonly [string, unknown])[] = []
  for (const [name, child] of Object.entries(value)) {
    const at = field === '' ? name : `${field}.${name}`
    const known = own(schema.properties, name) ?? schema.additionalProperties
    if (field === '' && COMMON.has(name)) kept.push([name, child])
    else if (typeof known === 'object') {
      // A null where none is allowed counts as absent; in lists it is an error.
      if (child !== null || known.nullable) kept.push([name, prune(known, child, at, unknownFields)])
    }
    // A value of the wrong type has no fields to check: the schema reports it as a whole.
    else if (known === true || (schema.type !== undefined && schema.type !== 'object')) kept.push([name, child])
    else unknownFields.push(at)
  }
  // Unlike an assignment, this takes __proto__ for a name like any other.
  return Object.fromEntries(kept)
}

/** Names such as constructor are inherited by every object and still unknown to the schema. */
function own<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members && Object.hasOwn(members, name) ? members[name] : undefined
}

/** In metadata, which has no schema, null is absent. */
function withoutNulls(metadata: unknown): unknown {
  return isRecord(metadata)
    ? Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
    : metadata
}

function metadataProblems(metadata: unknown): readonly Problem[] {
  if (!isRecord(metadata)) return [{ field: 'metadata', message: 'is required, with a name' }]
  const problems: Problem[] = []
  const { name, generateName } = metadata
  if (name === undefined && generateName === undefined) {
    problems.push({ field: 'metadata.name', message: 'is required' })
  }
  for (const text of ['name', 'generateName', 'namespace']) {
    const value = metadata[text]
    if (value !== undefined && typeof value !== 'string')
      problems.push({ field: `metadata.${text}`, message: mustBeText(value) })
  }
  for (const map of ['labels', 'annotations']) problems.push(...textMapProblems(metadata[map], `metadata.${map}`))
  return problems
}

function textMapProblems(map: unknown, field: string): readonly Problem[] {
  if (map === undefined) return []
  if (!isRecord(map)) return [{ field, message: 'must be an object whose values are strings' }]
  return Object.entries(map)
    .filter(([, value]) => typeof value !== 'string')
    .map(([key, value]) => ({ field: `${field}[${key}]`, message: mustBeText(value) }))
}

const mustBeText = (value: unknown): string => `must be a string, not ${JSON.stringify(value)}; put it in quotes`
