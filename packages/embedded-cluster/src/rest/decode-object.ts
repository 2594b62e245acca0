/** From the JSON of a request body to a checked draft of an object in the version of the URL. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { apiVersionOf, type ResourceInfo } from '../registry/resource-info.ts'
import type { ParsedBody } from '../schema/parse.ts'
import { prune } from '../schema/prune.ts'
import { badRequest } from './api-errors.ts'
import type { RestContext, WriteRequest } from './context.ts'
import { schemaDefaults } from './schema-steps.ts'

/** Checks kind and version, unknown fields and types, then fills defaults. The result may be changed. */
export function decodeObject(context: RestContext, request: WriteRequest, body: ParsedBody): JsonObject {
  const object = requireObject(body.value)
  requireKind(object, request.info)
  return defaultObject(context, request.info, strict(request, object, body.duplicates))
}

/** The object a body must be. */
export function requireObject(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw badRequest("couldn't get version/kind; json parse error: the body is not an object")
  return value
}

/** Drops unknown fields, and reports them and duplicates as the request's fieldValidation asks. */
export function strict(
  request: Pick<WriteRequest, 'info' | 'fieldValidation' | 'warn'>,
  object: JsonObject,
  duplicates: readonly string[],
): JsonObject {
  const pruned = prune(request.info.schema, object)
  const problems = [
    ...pruned.unknown.map((field) => `unknown field "${field}"`),
    ...duplicates.map((field) => `duplicate field "${field}"`),
  ]
  if (problems.length > 0 && request.fieldValidation === 'Strict') {
    const { kind, version } = request.info
    const subject = `${kind} in version "${version}" cannot be handled as a ${kind}`
    throw badRequest(`${subject}: strict decoding error: ${problems.join(', ')}`)
  }
  if (request.fieldValidation === 'Warn') for (const problem of problems) request.warn(problem)
  return pruned.object
}

/** Fills the defaults of the schema and of the kind; `object` is a draft and may be changed in place. */
export function defaultObject(context: RestContext, info: ResourceInfo, object: JsonObject): JsonObject {
  const defaulted = schemaDefaults(info, object)
  context.strategyOf(info).default?.(defaulted)
  return defaulted
}

/** Refuses an object of another kind or version than the URL's. */
export function requireKind(object: JsonObject, of: { group: string; version: string; kind: string }): void {
  const { apiVersion, kind } = object
  const expected = apiVersionOf(of)
  if (typeof kind !== 'string' || kind === '') {
    throw badRequest(`Object 'Kind' is missing in '${excerpt(object)}'`)
  }
  if (typeof apiVersion !== 'string' || apiVersion === '') {
    throw badRequest(`Object 'apiVersion' is missing in '${excerpt(object)}'`)
  }
  if (kind !== of.kind) {
    const actual = describe(apiVersion, kind)
    throw badRequest(
      `${kind} in version "${apiVersion.split('/').at(-1)}" cannot be handled as a ${of.kind}: ${actual} does not match the expected ${describe(expected, of.kind)}`,
    )
  }
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    )
  }
}

function describe(apiVersion: string, kind: string): string {
  return `${apiVersion}, Kind=${kind}`
}

function excerpt(object: JsonObject): string {
  const text = JSON.stringify(object)
  return text.length > 1000 ? `${text.slice(0, 1000)}...` : text
}
