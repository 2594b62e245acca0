/** Finds what no rule can work with: what the API server never sends, and numbers that its schema lets through. */
import { type AnyCrd, objectSchema, type Problem, type StructuralSchema } from '@reeve/crd'
import type { UnknownObject } from '@reeve/kube'
import { decodingProblems } from '../api/validation/decoding-problems.ts'

/** Lists the problems of an object; empty when it can be worked with. */
export type UnreadableParts = (object: UnknownObject) => readonly Problem[]

/** What makes objects of one version unreadable. The schema is prepared here, once: that takes longer than a review. */
export function unreadableParts(crd: AnyCrd, version: string): UnreadableParts {
  const { group, kind } = crd
  const expected = `${group}/${version}`
  const { properties: { spec = {}, status = {} } = {} } = objectSchema(crd, version)
  return (object) => {
    if (object.apiVersion !== expected || object.kind !== kind) {
      const message = `expected ${kind} of ${expected}, not ${object.kind} of ${object.apiVersion}`
      return [{ field: '(root)', message }]
    }
    if (!isRecord(object.metadata)) return [{ field: 'metadata', message: 'must be an object' }]
    const problems: Problem[] = []
    checkTypes(METADATA, object.metadata, 'metadata', problems)
    checkTypes(spec, object.spec, 'spec', problems)
    checkTypes(status, object.status, 'status', problems)
    return problems.length > 0 ? problems : decodingProblems(object)
  }
}

/** What rules and conversions read of it. */
const METADATA: StructuralSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    namespace: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
  },
}

/** Types only: a field that is missing, unknown or null is no obstacle to reading the rest. */
function checkTypes(schema: StructuralSchema, value: unknown, field: string, problems: Problem[]): void {
  if (value === undefined || value === null || schema['x-kubernetes-int-or-string']) return
  if (!hasType(schema.type, value)) {
    problems.push({ field, message: `must be of type ${schema.type}` })
    return
  }
  const { items, properties, additionalProperties } = schema
  if (Array.isArray(value)) {
    if (items) for (const [index, item] of value.entries()) checkTypes(items, item, `${field}[${index}]`, problems)
  } else if (isRecord(value)) {
    for (const [name, child] of Object.entries(value)) {
      const known = properties?.[name] ?? additionalProperties
      if (typeof known === 'object') checkTypes(known, child, `${field}.${name}`, problems)
    }
  }
}

function hasType(type: StructuralSchema['type'], value: unknown): boolean {
  if (type === undefined) return true
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
