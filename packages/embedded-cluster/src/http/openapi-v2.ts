/** `/openapi/v2`: one document for all resources, built on demand. Only older clients and tools read it. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { ServerRequest, ServerResponse } from './exchange.ts'
import { negotiate } from './negotiation.ts'
import {
  customName,
  hashOf,
  listMeta,
  objectMeta,
  type PublishedDefinitions,
  refPrefix,
  typeMeta,
} from './openapi-definitions.ts'
import { swaggerPaths } from './openapi-paths.ts'
import { complete, empty } from './response.ts'
import { kubernetesVersion } from './version.ts'

/** Serves the document; it is built again only after a definition of custom resources changed. */
export class OpenApiV2 {
  readonly #registry: ResourceRegistry
  readonly #published: PublishedDefinitions
  #document: { readonly hash: string; readonly body: string } | undefined

  constructor(registry: ResourceRegistry, published: PublishedDefinitions) {
    this.#registry = registry
    this.#published = published
  }

  handle(request: ServerRequest): ServerResponse {
    if (!acceptsJson(request.headers.accept)) return empty(406, { vary: 'Accept' })
    const infos = this.#infos()
    const hash = hashOf(infos)
    const headers = { etag: `"${hash}"`, vary: 'Accept' }
    if (request.headers['if-none-match'] === headers.etag) return empty(304, headers)
    if (this.#document?.hash !== hash) this.#document = { hash, body: JSON.stringify(this.#build(infos)) }
    return complete(200, 'application/json', this.#document.body, headers)
  }

  #infos(): readonly ResourceInfo[] {
    const groups = this.#registry.groups()
    return groups.flatMap(({ group, versions }) =>
      versions.flatMap((version) => [...this.#registry.inGroupVersion(group, version)]),
    )
  }

  #build(infos: readonly ResourceInfo[]): JsonObject {
    const definitions: JsonObject = {}
    for (const [name, definition] of Object.entries(this.#published.definitions())) {
      definitions[name] = withoutDefaults(definition)
    }
    for (const info of infos) if (info.custom) addCustom(definitions, info)
    return {
      swagger: '2.0',
      info: { title: 'Kubernetes', version: kubernetesVersion },
      paths: swaggerPaths(infos, (info) => (info.custom ? customName(info) : this.#published.nameOf(info))),
      definitions,
    }
  }
}

/** Built-in kinds have their defaults only in version 3. */
function withoutDefaults(schema: JsonObject): JsonObject {
  const copy: JsonObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'default') continue
    if (keyword === 'properties' && isJsonObject(value)) {
      copy[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, property]) => [
          name,
          isJsonObject(property) ? withoutDefaults(property) : property,
        ]),
      )
    } else copy[keyword] = isJsonObject(value) ? withoutDefaults(value) : value
  }
  return copy
}

function addCustom(definitions: JsonObject, info: ResourceInfo): void {
  const { group, version, kind, listKind } = info
  const name = customName(info)
  definitions[name] = { ...customSchema(info), 'x-kubernetes-group-version-kind': [{ group, version, kind }] }
  definitions[`${name}List`] = {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: typeMeta.apiVersion,
      items: { type: 'array', items: { $ref: `${refPrefix}${name}` } },
      kind: typeMeta.kind,
      metadata: { $ref: `${refPrefix}${listMeta}` },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
  }
}

/** Clients of version 2 reject all fields outside `properties`, so that a kind with unknown fields has none. */
function customSchema(info: ResourceInfo): JsonObject {
  // A schema is JSON with readonly markers; copying it as JSON drops them.
  const schema: JsonObject = JSON.parse(JSON.stringify(info.schema ?? {}))
  if (info.schema === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true) return { type: 'object' }
  const reduced = reduceToVersion2(schema)
  reduced.properties = {
    ...(isJsonObject(reduced.properties) ? reduced.properties : {}),
    ...metadataProperties,
  }
  return reduced
}

const metadataProperties: JsonObject = {
  apiVersion: typeMeta.apiVersion,
  kind: typeMeta.kind,
  metadata: { $ref: `${refPrefix}${objectMeta}`, description: typeMeta.metadata },
}

/** Defaults could be expressed, but the real server leaves them out. */
const unknownToVersion2 = ['allOf', 'anyOf', 'oneOf', 'not', 'nullable', 'default']

/**
 * A structural schema without what version 2 cannot express. Types that clients would misread are left out: a nullable
 * value, one with unknown fields, and a list whose items are unknown.
 */
function reduceToVersion2(schema: JsonObject): JsonObject {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  const isUntyped = schema.nullable === true || (isOpen && (schema.type === 'object' || schema.type === 'array'))
  const reduced: JsonObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (unknownToVersion2.includes(keyword)) continue
    if ((isOpen || schema.nullable === true) && (keyword === 'properties' || keyword === 'items')) continue
    if (keyword === 'type' && (isUntyped || (value === 'array' && schema.items === undefined))) continue
    reduced[keyword] = reduceKeyword(keyword, value, schema)
    if (reduced[keyword] === undefined) delete reduced[keyword]
  }
  if (schema['x-kubernetes-embedded-resource'] === true && !isOpen) addEmbeddedMetadata(reduced)
  return reduced
}

function reduceKeyword(keyword: string, value: JsonValue | undefined, schema: JsonObject): JsonValue | undefined {
  if (keyword === 'properties' && isJsonObject(value)) {
    const entries = Object.entries(value).map(([name, property]) => [name, reduceValue(property)])
    return Object.fromEntries(entries)
  }
  if (keyword === 'items' || keyword === 'additionalProperties') return reduceValue(value)
  if (keyword === 'required' && Array.isArray(value)) {
    const properties = isJsonObject(schema.properties) ? schema.properties : {}
    const required = value.filter((name) => {
      const property = properties[String(name)]
      return !(isJsonObject(property) && property.nullable === true)
    })
    return required.length === 0 ? undefined : required
  }
  return value
}

function reduceValue(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? reduceToVersion2(value) : value
}

function addEmbeddedMetadata(schema: JsonObject): void {
  schema.properties = { ...(isJsonObject(schema.properties) ? schema.properties : {}), ...metadataProperties }
  const required = Array.isArray(schema.required) ? schema.required : []
  schema.required = [...new Set([...required, 'kind', 'apiVersion'])]
}

/** Only JSON is served; every client that prefers protobuf and also accepts JSON gets it. */
function acceptsJson(accept: string | undefined): boolean {
  try {
    return negotiate(accept).format === 'json'
  } catch {
    // Not negotiable means not acceptable; the caller responds in the way of this path.
    return false
  }
}
