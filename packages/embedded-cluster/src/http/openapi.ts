/** `/openapi`: for version 3 an index, and one document per group version, built on demand. */
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
  PublishedDefinitions,
  refPrefix,
  typeMeta,
} from './openapi-definitions.ts'
import { openApiPaths } from './openapi-paths.ts'
import { OpenApiV2 } from './openapi-v2.ts'
import { complete, empty, text } from './response.ts'
import { kubernetesVersion } from './version.ts'

/** Serves the schemas of all served resources. */
export class OpenApi {
  readonly #registry: ResourceRegistry
  readonly #documents = new Map<string, { readonly hash: string; readonly body: string }>()
  readonly #published = new PublishedDefinitions()
  readonly #version2: OpenApiV2

  constructor(registry: ResourceRegistry) {
    this.#registry = registry
    this.#version2 = new OpenApiV2(registry, this.#published)
  }

  /** `undefined` when the path is neither `/openapi/v2` nor one of `/openapi/v3`. */
  handle(request: ServerRequest, pathname: string, query: URLSearchParams): ServerResponse | undefined {
    if (pathname === '/openapi/v2') return this.#version2.handle(request)
    if (pathname === '/openapi/v3') return this.#index()
    if (!pathname.startsWith('/openapi/v3/')) return undefined
    if (!acceptsJson(request)) return empty(406, { vary: 'Accept' })
    const path = pathname.slice('/openapi/v3/'.length)
    const groupVersion = this.#groupVersions().find((candidate) => candidate.path === path)
    if (groupVersion === undefined) return empty(404)
    const hash = hashOf(groupVersion.infos)
    const wanted = query.get('hash') ?? hash
    if (wanted !== hash) return empty(301, { location: `/openapi/v3/${path}?hash=${hash}`, vary: 'Accept' })
    let document = this.#documents.get(path)
    if (document === undefined || document.hash !== hash) {
      document = { hash, body: JSON.stringify(this.#document(groupVersion.infos)) }
      this.#documents.set(path, document)
    }
    const isPinned = query.has('hash')
    const headers = {
      etag: `"${hash}"`,
      vary: 'Accept',
      'cache-control': isPinned ? 'public, immutable' : 'no-cache, private',
    }
    if (request.headers['if-none-match'] === `"${hash}"`) return empty(304, headers)
    return complete(200, 'application/json', document.body, headers)
  }

  #index(): ServerResponse {
    const paths: JsonObject = {}
    for (const { path, infos } of this.#groupVersions()) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(infos)}` }
    }
    // The real server does not send the content type of JSON here, and clients do not require it.
    return text(200, JSON.stringify({ paths }))
  }

  #groupVersions(): readonly { path: string; infos: readonly ResourceInfo[] }[] {
    return this.#registry.groups().flatMap(({ group, versions }) =>
      versions.map((version) => ({
        path: group === '' ? `api/${version}` : `apis/${group}/${version}`,
        infos: this.#registry.inGroupVersion(group, version),
      })),
    )
  }

  #document(infos: readonly ResourceInfo[]): JsonObject {
    const schemas: JsonObject = {}
    for (const info of infos) {
      if (info.custom) this.#addCustom(schemas, info)
      else {
        for (const kind of [info, { ...info, kind: info.listKind }, ...info.subresources]) this.#addKind(schemas, kind)
      }
    }
    this.#addKind(schemas, { group: '', version: 'v1', kind: 'Status' })
    this.#addDefinition(schemas, 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions')
    this.#addDefinition(schemas, 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch')
    return {
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: kubernetesVersion },
      paths: openApiPaths(infos, (info) => this.#schemaName(info)),
      components: { schemas },
    }
  }

  #schemaName(info: ResourceInfo): string | undefined {
    return info.custom ? customName(info) : this.#published.nameOf(info)
  }

  #addKind(schemas: JsonObject, kind: { group: string; version: string; kind: string }): void {
    const name = this.#published.nameOf(kind)
    if (name !== undefined) this.#addDefinition(schemas, name)
  }

  /** Adds a definition and everything it refers to. */
  #addDefinition(schemas: JsonObject, name: string): void {
    if (schemas[name] !== undefined) return
    const definition = this.#published.definitions()[name]
    if (definition === undefined) return
    schemas[name] = {}
    schemas[name] = this.#convert(schemas, definition)
  }

  #convert(schemas: JsonObject, value: JsonValue): JsonValue {
    if (Array.isArray(value)) return value.map((item) => this.#convert(schemas, item))
    if (!isJsonObject(value)) return value
    const converted: JsonObject = {}
    for (const [field, item] of Object.entries(value)) {
      if (field === '$ref' && typeof item === 'string' && item.startsWith(refPrefix)) {
        const name = item.slice(refPrefix.length)
        this.#addDefinition(schemas, name)
        converted.$ref = `#/components/schemas/${name}`
      } else if (item !== undefined) converted[field] = this.#convert(schemas, item)
    }
    return converted
  }

  #addCustom(schemas: JsonObject, info: ResourceInfo): void {
    const name = customName(info)
    // A schema is JSON with readonly markers; copying it as JSON drops them.
    const schema: JsonObject = JSON.parse(JSON.stringify(info.schema ?? { type: 'object' }))
    const properties = isJsonObject(schema.properties) ? schema.properties : {}
    schema.properties = {
      ...properties,
      apiVersion: typeMeta.apiVersion,
      kind: typeMeta.kind,
      metadata: { allOf: [{ $ref: `#/components/schemas/${objectMeta}` }], description: typeMeta.metadata },
    }
    const { group, version, kind, listKind } = info
    schema['x-kubernetes-group-version-kind'] = [{ group, version, kind }]
    schemas[name] = schema
    schemas[`${name}List`] = {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: typeMeta.apiVersion,
        items: { type: 'array', items: { $ref: `#/components/schemas/${name}` } },
        kind: typeMeta.kind,
        metadata: { allOf: [{ $ref: `#/components/schemas/${listMeta}` }] },
      },
      'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
    }
    this.#addDefinition(schemas, objectMeta)
    this.#addDefinition(schemas, listMeta)
  }
}

/** The documents are only available as JSON, which clients that prefer protobuf also accept. */
function acceptsJson(request: ServerRequest): boolean {
  const accept = (request.headers.accept ?? '').replaceAll(/application\/com\.github\.proto-openapi[^,]*/g, '*/*')
  try {
    return negotiate(accept).format === 'json'
  } catch {
    // Not negotiable means not acceptable; the caller responds in the way of this path.
    return false
  }
}
