/** The `paths` of an OpenAPI document, in which kubectl finds the parameters of PATCH and the existing kinds. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'

const operations: readonly { verb: string; method: string; action: string; on: 'collection' | 'object' }[] = [
  { verb: 'list', method: 'get', action: 'list', on: 'collection' },
  { verb: 'create', method: 'post', action: 'post', on: 'collection' },
  { verb: 'deletecollection', method: 'delete', action: 'deletecollection', on: 'collection' },
  { verb: 'get', method: 'get', action: 'get', on: 'object' },
  { verb: 'update', method: 'put', action: 'put', on: 'object' },
  { verb: 'patch', method: 'patch', action: 'patch', on: 'object' },
  { verb: 'delete', method: 'delete', action: 'delete', on: 'object' },
]

const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation']
const parametersByVerb: Readonly<Record<string, readonly string[]>> = {
  create: writeParameters,
  update: writeParameters,
  patch: [...writeParameters, 'force'],
  delete: ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'],
  deletecollection: ['dryRun', 'labelSelector', 'fieldSelector', 'propagationPolicy'],
  list: ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'watch'],
}

/** Paths of all resources of one group version. `schemaName` returns the component of a kind. */
export function openApiPaths(
  infos: readonly ResourceInfo[],
  schemaName: (info: ResourceInfo) => string | undefined,
): JsonObject {
  const paths: JsonObject = {}
  for (const info of infos) {
    const root = info.group === '' ? `/api/${info.version}` : `/apis/${info.group}/${info.version}`
    const collection = `${root}${info.namespaced ? '/namespaces/{namespace}' : ''}/${info.plural}`
    for (const { verb, method, action, on } of operations) {
      if (!info.verbs.includes(verb)) continue
      const path = on === 'collection' ? collection : `${collection}/{name}`
      const existing = paths[path]
      const item = isJsonObject(existing) ? existing : {}
      item[method] = operation(info, verb, action, schemaName(info))
      paths[path] = item
    }
    for (const sub of info.subresources) {
      const item: JsonObject = {}
      for (const { verb, method, action, on } of operations) {
        if (on === 'collection' && verb !== 'create') continue
        if (sub.verbs.includes(verb)) item[method] = operation({ ...info, ...sub }, verb, action, undefined)
      }
      paths[`${collection}/{name}/${sub.name}`] = item
    }
  }
  return paths
}

function operation(
  kind: { group: string; version: string; kind: string },
  verb: string,
  action: string,
  schema: string | undefined,
): JsonObject {
  const parameters = (parametersByVerb[verb] ?? []).map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string', uniqueItems: true },
  }))
  const content =
    schema === undefined
      ? {}
      : { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } }
  return {
    parameters,
    responses: { 200: { description: 'OK', ...content } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
  }
}

/** The same paths in the form of version 2. */
export function swaggerPaths(
  infos: readonly ResourceInfo[],
  schemaName: (info: ResourceInfo) => string | undefined,
): JsonObject {
  const paths: JsonObject = {}
  for (const [path, item] of Object.entries(openApiPaths(infos, schemaName))) {
    const methods = isJsonObject(item) ? Object.entries(item) : []
    paths[path] = Object.fromEntries(methods.map(([method, found]) => [method, swaggerOperation(objectOf(found))]))
  }
  return paths
}

function swaggerOperation(operation: JsonObject): JsonObject {
  const parameters = Array.isArray(operation.parameters) ? operation.parameters : []
  const { description, content } = objectOf(objectOf(operation.responses)[200])
  const { schema } = objectOf(objectOf(content)['application/json'])
  const reference = objectOf(schema).$ref
  const type =
    typeof reference === 'string'
      ? { schema: { $ref: reference.replace('#/components/schemas/', '#/definitions/') } }
      : {}
  return {
    ...operation,
    consumes: ['*/*'],
    produces: ['application/json', 'application/yaml'],
    schemes: ['https'],
    parameters: parameters.map((parameter) => {
      const { schema: form, ...rest } = objectOf(parameter)
      return { ...rest, ...objectOf(form) }
    }),
    responses: { 200: { ...(description === undefined ? {} : { description }), ...type } },
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
