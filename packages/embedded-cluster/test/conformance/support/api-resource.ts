/** One resource: its paths and requests. */
import type { ConformanceApi, Headers, Json, Reply } from './conformance-api.ts'

/** The client that sends requests. */
export type Sender = Pick<ConformanceApi, 'send'>

/** Media types of patches by short names. */
const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/** Options of a request besides its body. */
export interface RequestParts {
  /** Such as `dryRun=All&fieldManager=alice`. */
  readonly query?: string
  /** Such as `status`. */
  readonly subresource?: string
  readonly headers?: Headers
}

/** The path of a resource. */
export interface ResourcePlace {
  /** Such as `v1` or `apps/v1`. */
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  /** Known only while cases run, hence a function. Absent for cluster-scoped resources. */
  readonly namespace?: () => string
}

/**
 * A namespaced or cluster-scoped resource.
 *
 * @example
 * const configMaps = resourceOf(api, 'v1', 'ConfigMap', 'configmaps')
 * const { status, body } = await configMaps.apply('alice', 'settings', { data: { a: '1' } })
 */
export class ApiResource {
  readonly #sender: Sender
  readonly #place: ResourcePlace

  constructor(sender: Sender, place: ResourcePlace) {
    this.#sender = sender
    this.#place = place
  }

  /** The same resource with another client. */
  as(sender: Sender): ApiResource {
    return new ApiResource(sender, this.#place)
  }

  /** The same resource in another namespace or version. */
  at(place: Partial<ResourcePlace>): ApiResource {
    return new ApiResource(this.#sender, { ...this.#place, ...place })
  }

  /** The path of the collection, of an object, or of a subresource. */
  path(name?: string, { query, subresource }: RequestParts = {}): string {
    const { apiVersion, plural, namespace } = this.#place
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const scope = namespace === undefined ? '' : `/namespaces/${namespace()}`
    const object = name === undefined ? '' : `/${name}`
    const part = subresource === undefined ? '' : `/${subresource}`
    return `${root}${scope}/${plural}${object}${part}${query === undefined ? '' : `?${query}`}`
  }

  /** An object with kind, version and name; `fields.metadata` adds to the name. */
  object(name: string, fields: Json = {}): Json {
    const { apiVersion, kind } = this.#place
    return { apiVersion, kind, ...fields, metadata: { name, ...fields.metadata } }
  }

  create(name: string, fields: Json = {}, parts: RequestParts = {}): Promise<Reply> {
    return this.#sender.send('POST', this.path(undefined, parts), this.object(name, fields), parts.headers)
  }

  /** Creates an object that the case needs; throws if that fails. */
  async given(name: string, fields: Json = {}, parts: RequestParts = {}): Promise<Json> {
    const { status, text, body } = await this.create(name, fields, parts)
    if (status !== 201) throw new Error(`${name} was not created: ${status} ${text}`)
    return body
  }

  get(name: string, parts: RequestParts = {}): Promise<Reply> {
    return this.#sender.send('GET', this.path(name, parts), undefined, parts.headers)
  }

  list(parts: RequestParts = {}): Promise<Reply> {
    return this.#sender.send('GET', this.path(undefined, parts), undefined, parts.headers)
  }

  /** Replaces an object by `body`, which is sent unchanged. */
  replace(name: string, body: unknown, parts: RequestParts = {}): Promise<Reply> {
    return this.#sender.send('PUT', this.path(name, parts), body, parts.headers)
  }

  patch(type: keyof typeof PATCH_TYPES, name: string, body: unknown, parts: RequestParts = {}): Promise<Reply> {
    const headers = { 'content-type': PATCH_TYPES[type], ...parts.headers }
    return this.#sender.send('PATCH', this.path(name, parts), body, headers)
  }

  /** Server-side apply as `manager`; `query` is appended. */
  apply(manager: string, name: string, fields: Json = {}, parts: RequestParts = {}): Promise<Reply> {
    const query = `fieldManager=${manager}${parts.query === undefined ? '' : `&${parts.query}`}`
    return this.patch('apply', name, this.object(name, fields), { ...parts, query })
  }

  delete(name: string, options?: unknown, parts: RequestParts = {}): Promise<Reply> {
    return this.#sender.send('DELETE', this.path(name, parts), options, parts.headers)
  }
}

/** A resource in the namespace that the cases of a file share. */
export function resourceOf(api: ConformanceApi, apiVersion: string, kind: string, plural: string): ApiResource {
  return new ApiResource(api, { apiVersion, kind, plural, namespace: () => api.namespace })
}

/** A cluster-scoped resource. */
export function clusterResourceOf(api: ConformanceApi, apiVersion: string, kind: string, plural: string): ApiResource {
  return new ApiResource(api, { apiVersion, kind, plural })
}
