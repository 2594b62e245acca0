/** What the server serves, told in the legacy and in the aggregated form of discovery. */
import { createHash } from 'node:crypto'
import type { JsonObject } from '../json.ts'
import { apiVersionOf, type ResourceInfo, type SubresourceInfo } from '../registry/resource-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { resourceNotFound } from '../rest/api-errors.ts'
import type { ServerRequest, ServerResponse } from './exchange.ts'
import { parseAccept } from './negotiation.ts'
import { complete } from './response.ts'

interface CachedDocument {
  readonly body: string
  readonly etag: string
}

/** Answers `/api`, `/apis`, `/apis/{group}` and `/apis/{group}/{version}`; documents are kept until the table changes. */
export class Discovery {
  readonly #registry: ResourceRegistry
  readonly #cache = new Map<string, CachedDocument | undefined>()
  #generation = -1

  constructor(registry: ResourceRegistry) {
    this.#registry = registry
  }

  /** `undefined` when the path is not one of discovery, or names a group or version that is not served. */
  handle(request: ServerRequest, pathname: string): ServerResponse | undefined {
    const parts = pathname.split('/').filter((part) => part !== '')
    const [root, group, version, ...rest] = parts
    if (rest.length > 0) return undefined
    if (root === 'api' && version === undefined) {
      if (group !== undefined) return this.#version(request, pathname, '', group)
      const aggregated = aggregatedVersion(request)
      if (aggregated !== undefined) return this.#aggregated(request, aggregated, true)
      return this.#answer(request, '/api', () => this.#coreVersions())
    }
    if (root !== 'apis') return undefined
    if (group === undefined) {
      const aggregated = aggregatedVersion(request)
      if (aggregated !== undefined) return this.#aggregated(request, aggregated, false)
      return this.#answer(request, '/apis', () => this.#groupList())
    }
    if (version === undefined) return this.#answer(request, pathname, () => this.#group(group))
    return this.#version(request, pathname, group, version)
  }

  #version(request: ServerRequest, pathname: string, group: string, version: string): ServerResponse | undefined {
    const answer = this.#answer(request, pathname, () => this.#resourceList(group, version))
    if (answer === undefined && this.#registry.hasBuiltInGroup(group)) throw resourceNotFound()
    return answer
  }

  #aggregated(request: ServerRequest, version: string, isCore: boolean): ServerResponse | undefined {
    const contentType = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
    const key = `${isCore ? 'core' : 'groups'} ${version}`
    return this.#answer(request, key, () => this.#groupDiscoveryList(version, isCore), contentType)
  }

  #answer(
    request: ServerRequest,
    key: string,
    build: () => JsonObject | undefined,
    contentType = 'application/json',
  ): ServerResponse | undefined {
    if (this.#generation !== this.#registry.generation) {
      this.#cache.clear()
      this.#generation = this.#registry.generation
    }
    let document = this.#cache.get(key)
    if (document === undefined) {
      const built = build()
      if (built === undefined) return undefined
      const body = `${JSON.stringify(built)}\n`
      document = { body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"` }
      this.#cache.set(key, document)
    }
    const headers = { etag: document.etag, vary: 'Accept', 'cache-control': 'public' }
    if (request.headers['if-none-match'] === document.etag) return complete(304, contentType, '', headers)
    return complete(200, contentType, document.body, headers)
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
    // Built-in groups are listed by name, custom ones as they come.
    if (!first.custom) resources.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1))
    const apiVersion = group === '' ? {} : { apiVersion: 'v1' }
    return { kind: 'APIResourceList', ...apiVersion, groupVersion: apiVersionOf(first), resources }
  }

  #groupDiscoveryList(version: string, isCore: boolean): JsonObject {
    const groups = this.#registry.groups().filter(({ group }) => (group === '') === isCore)
    return {
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
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

/** The version of aggregated discovery the client wants most; `undefined` when it wants plain JSON. */
function aggregatedVersion(request: ServerRequest): string | undefined {
  for (const { type, parameters } of parseAccept(request.headers.accept ?? '')) {
    if (type !== 'application/json') continue
    const { g, v, as } = parameters
    if (as === undefined) return undefined
    if (g === 'apidiscovery.k8s.io' && as === 'APIGroupDiscoveryList' && (v === 'v2' || v === 'v2beta1')) return v
  }
  return undefined
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

/** Built-in resources tell group and version only where they differ from their own; custom ones always do. */
function responseKind(
  info: ResourceInfo,
  of: { readonly group: string; readonly version: string; readonly kind: string },
): JsonObject {
  const isTold = info.custom || of.group !== info.group || of.version !== info.version
  return { group: isTold ? of.group : '', version: isTold ? of.version : '', kind: of.kind }
}
