/** Converts the JSON of a request body to a validated draft of an object in the version of the URL. */

import { badRequest, invalid } from '../api/api-errors.ts'
import { nameOf } from '../api/object-meta.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { apiVersionOf, type ResourceInfo } from '../registry/resource-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { DefaultOptions } from '../schema/default.ts'
import type { ParsedBody } from '../schema/parse.ts'
import { prune } from '../schema/prune.ts'
import type { RestContext, WriteRequest } from './context.ts'
import { schemaDefaults } from './schema-steps.ts'

/** Validates kind and version, unknown fields and types, then sets defaults. The result may be modified. */
export function decodeObject(context: RestContext, request: WriteRequest, body: ParsedBody): JsonObject {
  const object = requireObject(body.value)
  requireKind(context.registry, object, request.info)
  return defaultObject(context, request.info, strict(request, object, duplicateFields(body)))
}

/** The body as an object. */
export function requireObject(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw badRequest("couldn't get version/kind; json parse error: the body is not an object")
  return value
}

/** The duplicate fields of a body, as problems for {@link strict}. */
export function duplicateFields(body: ParsedBody): readonly string[] {
  if (body.duplicates.length === 0) return []
  if (body.isYaml === true) return [`yaml: unmarshal errors:\n  ${(body.duplicateKeys ?? []).join('\n  ')}`]
  return body.duplicates.map((field) => `duplicate field "${field}"`)
}

/** Drops unknown fields, and reports them and other problems of the body according to the request's fieldValidation. */
export function strict(
  request: Pick<WriteRequest, 'info' | 'fieldValidation' | 'warn'>,
  object: JsonObject,
  others: readonly string[],
): JsonObject {
  // The schema of a custom resource may have changed since its parts were stored.
  const pruned = prune(request.info.schema, object, { trustsFrozen: !request.info.custom })
  const unknown = unknownFields(request.info, pruned.unknown).map((field) => `unknown field "${field}"`)
  const isMixed = !request.info.custom && unknown.length > 0 && others.length > 0
  const problems = isMixed ? inDocumentOrder(object, [...others, ...unknown]) : [...others, ...unknown]
  if (problems.length > 0 && request.fieldValidation === 'Strict') {
    const { kind, version } = request.info
    const subject = `${kind} in version "${version}" cannot be handled as a ${kind}`
    throw badRequest(`${subject}: strict decoding error: ${problems.join(', ')}`)
  }
  if (request.fieldValidation === 'Warn') for (const problem of problems) request.warn(problem)
  return pruned.object
}

/** Sorts problems that name a field by its place in the document; the others come first. */
function inDocumentOrder(object: JsonObject, problems: readonly string[]): readonly string[] {
  const places = new Map<string, number>()
  const visit = (value: JsonValue | undefined, path: string) => {
    places.set(path, places.size)
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`)
    else if (isJsonObject(value)) {
      for (const [name, field] of Object.entries(value)) visit(field, path === '' ? name : `${path}.${name}`)
    }
  }
  visit(object, '')
  const place = (problem: string) => places.get(/^\w+ field "(.*)"$/s.exec(problem)?.[1] ?? '') ?? 0
  return problems.toSorted((a, b) => place(a) - place(b))
}

/** For custom resources the API reports unknown fields sorted by path, those in `metadata` first. */
function unknownFields(info: ResourceInfo, fields: readonly string[]): readonly string[] {
  if (!info.custom) return fields
  const rank = (field: string) => (field.startsWith('metadata.') ? 0 : 1)
  return fields.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

/** Sets the defaults of the schema and of the kind; `object` is a draft and may be modified in place. */
export function defaultObject(
  context: RestContext,
  info: ResourceInfo,
  object: JsonObject,
  options?: DefaultOptions,
): JsonObject {
  const defaulted = schemaDefaults(info, object, options)
  const isReset = takeOwnershipReset(defaulted)
  context.strategyOf(info).default?.(defaulted)
  if (isReset && !info.custom && isJsonObject(defaulted.metadata)) defaulted.metadata.managedFields = []
  return defaulted
}

/**
 * Removes an empty list of `managedFields`, which the typed form of a kind would lose. On built-in kinds it resets the
 * managedFields; on custom resources it has no effect.
 */
function takeOwnershipReset({ metadata }: JsonObject): boolean {
  if (!isJsonObject(metadata) || !Array.isArray(metadata.managedFields)) return false
  if (metadata.managedFields.length > 0) return false
  delete metadata.managedFields
  return true
}

/**
 * Rejects an object of another kind or version than the URL's. Built-in objects may omit both; they are then set from
 * the URL.
 */
export function requireKind(
  registry: Pick<ResourceRegistry, 'byKind'>,
  object: JsonObject,
  of: { readonly group: string; readonly version: string; readonly kind: string; readonly custom?: boolean },
): void {
  const expected = apiVersionOf(of)
  if (of.custom === true) {
    requireCustomKind(object, of, expected)
    return
  }
  if (object.kind === undefined || object.kind === '') object.kind = of.kind
  if (object.apiVersion === undefined || object.apiVersion === '') object.apiVersion = expected
  const { apiVersion, kind } = object
  if (kind === of.kind && apiVersion === expected) return
  const [version = '', group = ''] = String(apiVersion).split('/').reverse()
  const subject = `${String(kind)} in version ${JSON.stringify(version)} cannot be handled as a ${of.kind}`
  if (registry.byKind(group, version, String(kind)) === undefined) {
    const scheme = 'in scheme "pkg/runtime/scheme.go:111"'
    throw badRequest(
      `${subject}: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} ${scheme}`,
    )
  }
  if (kind !== of.kind) {
    const internal = of.group === '' ? 'core' : (of.group.split('.')[0] ?? '')
    throw badRequest(
      `${subject}: converting (${version}.${String(kind)}) to (${internal}.${of.kind}): unknown conversion`,
    )
  }
  throw badRequest(
    `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
  )
}

/** Custom resources must contain apiVersion and kind. */
function requireCustomKind(
  object: JsonObject,
  of: { readonly group: string; readonly kind: string },
  expected: string,
): void {
  const { apiVersion, kind } = object
  if (typeof kind !== 'string' || kind === '') {
    const text = JSON.stringify(object)
    const start = text.length > 30 ? `${text.slice(0, 30)} ...` : text
    throw badRequest(
      `the object provided is unrecognized (must be of type ${of.kind}): Object 'Kind' is missing in '${text}' (${start})`,
    )
  }
  if (apiVersion !== expected) {
    const given = String(apiVersion ?? '')
    throw badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`)
  }
  if (kind !== of.kind) {
    const message = `Invalid value: ${JSON.stringify(kind)}: must be ${of.kind}`
    const error = { field: 'kind', reason: 'FieldValueInvalid', message } as const
    throw invalid({ group: of.group, kind }, nameOf(object), [error])
  }
}
