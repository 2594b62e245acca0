/** Discovers and caches the resources of a server. */

import { type Clock, untilAborted } from '@reeve/http'
import type { RequestOptions } from './client.ts'
import { type ApiResource, parseAggregated, parseResourceList } from './discovery-documents.ts'
import { isNotFound } from './error-predicates.ts'
import { UnknownKindError } from './errors.ts'
import type { UnknownObject } from './objects.ts'
import type { RequestExecutor } from './request-executor.ts'
import type { Resource } from './resource.ts'

/** Access to the resources of a server. */
export interface Discovery {
  /** The resource of a kind; requests discovery again, at a limited rate, when the kind is unknown. */
  resourceFor(
    object: { readonly apiVersion: string; readonly kind: string },
    options?: RequestOptions,
  ): Promise<Resource<UnknownObject>>
  /** Every resource in every served version, without subresources. */
  resources(options?: RequestOptions): Promise<readonly ApiResource[]>
  /** Clears the cache, for example after installing a CustomResourceDefinition. */
  invalidate(): void
}

/**
 * Newer servers respond with everything in one response; older ones ignore the parameters and respond with their index.
 */
const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',')

/** Options of the cache. */
export interface DiscoveryOptions {
  readonly executor: RequestExecutor
  readonly clock: Clock
  /** Minimum interval between requests for unknown kinds. */
  readonly minIntervalMs: number
}

/** {@link Discovery} with a cache that concurrent callers share. */
export class DiscoveryCache implements Discovery {
  readonly #options: DiscoveryOptions
  #known: ReadonlyMap<string, ApiResource> | undefined
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<ReadonlyMap<string, ApiResource>> | undefined

  constructor(options: DiscoveryOptions) {
    this.#options = options
  }

  async resourceFor(
    object: { readonly apiVersion: string; readonly kind: string },
    options: RequestOptions = {},
  ): Promise<Resource<UnknownObject>> {
    const key = `${object.apiVersion} ${object.kind}`
    const found = this.#known?.get(key) ?? (await this.#refreshed(options)).get(key)
    if (found === undefined) throw new UnknownKindError(object)
    return found
  }

  async resources(options: RequestOptions = {}): Promise<readonly ApiResource[]> {
    return [...(this.#known ?? (await this.#refreshed(options))).values()]
  }

  invalidate(): void {
    this.#known = undefined
    this.#readAt = Number.NEGATIVE_INFINITY
  }

  async #refreshed(options: RequestOptions): Promise<ReadonlyMap<string, ApiResource>> {
    const { clock, minIntervalMs } = this.#options
    if (this.#known !== undefined && clock.now() - this.#readAt < minIntervalMs) return this.#known
    // One refresh serves all waiting callers. It has its own deadline and outlives the caller that started it.
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return untilAborted(this.#reading, options.signal)
  }

  async #read(): Promise<ReadonlyMap<string, ApiResource>> {
    const [core, groups] = await Promise.all([this.#document('/api', AGGREGATED), this.#document('/apis', AGGREGATED)])
    const found = [...(await this.#resourcesOf('/api', core)), ...(await this.#resourcesOf('/apis', groups))]
    this.#known = new Map(found.map((resource) => [`${resource.apiVersion} ${resource.kind}`, resource]))
    this.#readAt = this.#options.clock.now()
    return this.#known
  }

  async #resourcesOf(root: '/api' | '/apis', document: unknown): Promise<readonly ApiResource[]> {
    const aggregated = parseAggregated(document)
    if (aggregated.isAggregated) return aggregated.resources
    const lists = await Promise.all(
      aggregated.groupVersions.map((groupVersion) => this.#resourceList(`${root}/${groupVersion}`, groupVersion)),
    )
    return lists.flat()
  }

  async #resourceList(path: string, groupVersion: string): Promise<readonly ApiResource[]> {
    try {
      return parseResourceList(await this.#document(path, 'application/json'), groupVersion)
    } catch (error) {
      // A group that disappeared between the two requests has no resources anymore.
      if (isNotFound(error)) return []
      throw error
    }
  }

  #document(path: string, accept: string): Promise<unknown> {
    const target = { verb: 'raw', path: `GET ${path}` } as const
    return this.#options.executor.content({ target, method: 'GET', path, accept, isIdempotent: true })
  }
}
