/** Ownership of the replicas field, converted between a workload and its Scale. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

const scaleFields: JsonObject = { 'f:spec': { 'f:replicas': {} } }
const scaleApiVersion = 'autoscaling/v1'

/** The managedFields of a Scale: the entries of its workload that own the field at `path`. */
export function scaleManagers(managedFields: JsonValue | undefined, path: readonly string[]): JsonObject[] {
  return entries(managedFields)
    .filter((entry) => owns(entry.fieldsV1, path))
    .map((entry) => ({ ...entry, apiVersion: scaleApiVersion, fieldsV1: scaleFields }))
}

/** The managedFields of the workload after its Scale was applied. */
export function workloadManagers(
  before: JsonValue | undefined,
  scale: JsonValue | undefined,
  path: readonly string[],
  apiVersion: string,
): JsonObject[] {
  const owners = new Map(entries(scale).map((entry) => [identity(entry), entry]))
  const kept: JsonObject[] = []
  for (const entry of entries(before)) {
    if (!owns(entry.fieldsV1, path) || owners.delete(identity(entry))) kept.push(entry)
    else {
      const rest = without(entry.fieldsV1, path)
      if (rest !== undefined) kept.push({ ...entry, fieldsV1: rest })
    }
  }
  const added = [...owners.values()].map(({ manager, operation }) => ({
    manager,
    operation,
    apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1: nested(path),
    subresource: 'scale',
  }))
  const all = [...kept, ...added]
  return [...all.filter(isApply), ...all.filter((entry) => !isApply(entry))]
}

/** A workload whose entries for its Scale have no time: managedFields of a Scale have none. */
export function withoutScaleTimes(workload: JsonObject): JsonObject {
  const { managedFields, ...metadata } = isJsonObject(workload.metadata) ? workload.metadata : {}
  const all = entries(managedFields).map(({ time, ...entry }) =>
    entry.subresource === 'scale' || time === undefined ? entry : { ...entry, time },
  )
  const isTimeless = (entry: JsonObject) => entry.subresource === 'scale'
  const updates = all.filter((entry) => !isApply(entry))
  // Within each operation entries are sorted by time, and those without a time come first.
  const ordered = [
    ...all.filter(isApply),
    ...updates.filter(isTimeless),
    ...updates.filter((entry) => !isTimeless(entry)),
  ]
  return { ...workload, metadata: { ...metadata, ...(ordered.length > 0 && { managedFields: ordered }) } }
}

function entries(managedFields: JsonValue | undefined): JsonObject[] {
  return Array.isArray(managedFields) ? managedFields.filter(isJsonObject) : []
}

function isApply(entry: JsonObject): boolean {
  return entry.operation === 'Apply'
}

function identity(entry: JsonObject): string {
  return JSON.stringify([entry.manager, entry.operation, entry.subresource ?? ''])
}

function owns(fields: JsonValue | undefined, path: readonly string[]): boolean {
  let value = fields
  for (const segment of path) value = isJsonObject(value) ? value[`f:${segment}`] : undefined
  return value !== undefined
}

function nested(path: readonly string[]): JsonObject {
  return path.reduceRight<JsonObject>((inner, segment) => ({ [`f:${segment}`]: inner }), {})
}

/** The set without the field at `path`; `undefined` when nothing is left. */
function without(fields: JsonValue | undefined, path: readonly string[]): JsonObject | undefined {
  const [segment, ...rest] = path
  if (!isJsonObject(fields) || segment === undefined) return undefined
  const { [`f:${segment}`]: inner, ...others } = fields
  const remaining = rest.length === 0 ? undefined : without(inner, rest)
  const result: JsonObject = remaining === undefined ? others : { ...others, [`f:${segment}`]: remaining }
  return Object.keys(result).length === 0 ? undefined : result
}
