/** Discovery of the served resources, in the legacy and the aggregated format. */
import { createHash } from 'node:crypto'
import { resourceNotFound } from '../api/api-errors.ts'
import type { JsonObject } from '../json.ts'
import { apiVersionOf, type ResourceInfo, type SubresourceInfo } from '../registry/resource-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { ServerRequest, ServerResponse } from './exchange.ts'
import { negotiate, parseAccept } from './negotiation.ts'
import { complete, empty, yaml } from './response.ts'

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

interface CachedDocument {
  readonly body: string
  readonly etag: string
}

/**
 * Serves `/api`, `/apis`, `/apis/{group}` and `/apis/{group}/{version}`; documents are cached until the registry
 * changes.
 */
export class Discovery {
  readonly #registry: ResourceRegistry
  readonly #cache = new Map<string, CachedDocument>()
  #generation = -1

  constructor(registry: ResourceRegistry) {
    this.#registry = registry
  }

  /** `undefined` when the path is not one of discovery, or names a group or version that is not served. */
  async handle(request: ServerRequest, pathname: string): Promise<ServerResponse | undefined> {
    const [root, group, version, ...rest] = pathname.split('/').filter((part) => part !== '')
    if (rest.length > 0) return undefined
    if (root === 'api' && version === undefined) {
      if (group !== undefined) return this.#version(request, pathname, '', group)
      return wantsAggregated(request) ? this.#aggregated(request, true) : this.#legacy(request, '/api')
    }
    if (root !== 'apis') return undefined
    if (group === undefined) {
      return wantsAggregated(request) ? this.#aggregated(request, false) : this.#legacy(request, '/apis')
    }
    if (version !== undefined) return this.#version(request, pathname, group, version)
    return this.#plain(
      request,
      this.#document(pathname, () => this.#group(group)),
    )
  }

  #legacy(request: ServerRequest, root: '/api' | '/apis'): Promise<ServerResponse | undefined> {
    const build = () => (root === '/api' ? this.#coreVersions() : this.#groupList())
    return this.#plain(request, this.#document(root, build))
  }

  #version(
    request: ServerRequest,
    pathname: string,
    group: string,
    version: string,
  ): Promise<ServerResponse | undefined> {
    const document = this.#document(pathname, () => this.#resourceList(group, version))
    if (document === undefined && this.#registry.hasBuiltInGroup(group)) throw resourceNotFound()
    return this.#plain(request, document)
  }

  /** Only the aggregated format supports ETags. */
  #aggregated(request: ServerRequest, isCore: boolean): ServerResponse | undefined {
    const document = this.#document(isCore ? 'core' : 'groups', () => this.#groupDiscoveryList(isCore))
    if (document === undefined) return undefined
    const headers = { etag: document.etag, vary: 'Accept', 'cache-control': 'public' }
    if (request.headers['if-none-match'] === document.etag) return empty(304, headers)
    return complete(200, AGGREGATED, document.body, headers)
  }

  async #plain(request: ServerRequest, document: CachedDocument | undefined): Promise<ServerResponse | undefined> {
    if (document === undefined) return undefined
    if (negotiate(request.headers.accept).format === 'json') return complete(200, 'application/json', document.body)
    return yaml(200, JSON.parse(document.body))
  }

  #document(key: string, build: () => JsonObject | undefined): CachedDocument | undefined {
    if (this.#generation !== this.#registry.generation) {
      this.#cache.clear()
      this.#generation = this.#registry.generation
    }
    const cached = this.#cache.get(key)
    if (cached !== undefined) return cached
    const built = build()
    if (built === undefined) return undefined
    const body = `${JSON.stringify(built)}\n`
    const document = { body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"` }
    this.#cache.set(key, document)
    return document
  }

  #coreVersions(): JsonObject {
    return {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:443' }],
    }
  }

  #groupList(): JsonObject {
    const groups = this.#registry.groups().filter(({ group }) => group !== '')
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(describeGroup) }
  }

  #group(name: string): JsonObject | undefined {
    const found = this.#registry.groups().find(({ group }) => group === name && name !== '')
    return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(found) }
  }

  #resourceList(group: string, version: string): JsonObject | undefined {
    const infos = this.#registry.inGroupVersion(group, version)
    const [first] = infos
    if (first === undefined) return undefined
    const resources = infos.flatMap((info) => [
      legacyResource(info),
      ...info.subresources.map((sub) => legacySubresource(info, sub)),
    ])
    // Built-in groups are sorted by name, custom groups are in order of registration.
    if (!first.custom) resources.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1))
    const apiVersion = group === '' ? {} : { apiVersion: 'v1' }
    return { kind: 'APIResourceList', ...apiVersion, groupVersion: apiVersionOf(first), resources }
  }

  #groupDiscoveryList(isCore: boolean): JsonObject {
    const groups = this.#registry.groups().filter(({ group }) => (group === '') === isCore)
    return {
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: groups.map(({ group, versions }) => ({
        metadata: group === '' ? {} : { name: group },
        versions: versions.map((served) => ({
          version: served,
          resources: this.#registry.inGroupVersion(group, served).map(aggregatedResource),
          freshness: 'Current',
        })),
      })),
    }
  }
}

/** Whether the client accepts aggregated discovery; it is then preferred, wherever it is in the list. */
function wantsAggregated(request: ServerRequest): boolean {
  return parseAccept(request.headers.accept ?? '').some(({ type, parameters: { g, v, as } }) => {
    return type === 'application/json' && g === 'apidiscovery.k8s.io' && v === 'v2' && as === 'APIGroupDiscoveryList'
  })
}

function describeGroup({ group, versions }: { group: string; versions: readonly string[] }): JsonObject {
  const described = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }))
  const [preferredVersion] = described
  return { name: group, versions: described, ...(preferredVersion === undefined ? {} : { preferredVersion }) }
}

function legacyResource(info: ResourceInfo): JsonObject {
  return {
    name: info.plural,
    singularName: info.singular,
    namespaced: info.namespaced,
    kind: info.kind,
    verbs: [...info.verbs],
    ...(info.shortNames.length === 0 ? {} : { shortNames: [...info.shortNames] }),
    ...(info.categories.length === 0 ? {} : { categories: [...info.categories] }),
    ...(info.storageVersionHash === undefined ? {} : { storageVersionHash: info.storageVersionHash }),
  }
}

function legacySubresource(info: ResourceInfo, sub: SubresourceInfo): JsonObject {
  const isForeign = sub.group !== info.group || sub.version !== info.version
  return {
    name: `${info.plural}/${sub.name}`,
    singularName: '',
    namespaced: info.namespaced,
    ...(isForeign ? { group: sub.group, version: sub.version } : {}),
    kind: sub.kind,
    verbs: [...sub.verbs],
  }
}

function aggregatedResource(info: ResourceInfo): JsonObject {
  const subresources = info.subresources.map((sub) => ({
    subresource: sub.name,
    responseKind: responseKind(info, sub),
    verbs: [...sub.verbs],
  }))
  return {
    resource: info.plural,
    responseKind: responseKind(info, info),
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: info.singular,
    verbs: [...info.verbs],
    ...(info.shortNames.length === 0 ? {} : { shortNames: [...info.shortNames] }),
    ...(info.categories.length === 0 ? {} : { categories: [...info.categories] }),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}

/** Built-in resources include group and version only where they differ from their own; custom resources always do. */
function responseKind(
  info: ResourceInfo,
  of: { readonly group: string; readonly version: string; readonly kind: string },
): JsonObject {
  const isIncluded = info.custom || of.group !== info.group || of.version !== info.version
  return { group: isIncluded ? of.group : '', version: isIncluded ? of.version : '', kind: of.kind }
}
