/** Non-resource paths: discovery, OpenAPI, version, health, metrics. */

import { methodNotAllowed } from '../api/api-errors.ts'
import type { JsonObject } from '../json.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { Store } from '../store/store.ts'
import type { PathHandler } from './api-server.ts'
import { Discovery } from './discovery.ts'
import type { ServerRequest, ServerResponse } from './exchange.ts'
import type { OpenApi } from './openapi.ts'
import { json, text } from './response.ts'
import { versionInfo } from './version.ts'

/** Documents published by other parts of the server, by path. */
export type PublishedDocuments = Readonly<Record<string, () => JsonObject | Promise<JsonObject>>>

const known = new Set(['api', 'apis', 'openapi', 'version', 'healthz', 'livez', 'readyz', 'metrics'])
const checks = ['ping', 'log', 'etcd', 'poststarthook/start-apiextensions-controllers', 'shutdown']

/** Serves everything below `/` that is not a resource. */
export class Paths implements PathHandler {
  readonly #registry: ResourceRegistry
  readonly #store: Store
  readonly #discovery: Discovery
  readonly #documents: PublishedDocuments
  #openApi: OpenApi | undefined

  constructor(registry: ResourceRegistry, store: Store, documents: PublishedDocuments = {}) {
    this.#registry = registry
    this.#store = store
    this.#discovery = new Discovery(registry)
    this.#documents = documents
  }

  async handle(request: ServerRequest, pathname: string, query: URLSearchParams): Promise<ServerResponse | undefined> {
    const [, first = ''] = pathname.split('/')
    if (request.method !== 'GET') {
      if (known.has(first)) throw methodNotAllowed()
      return undefined
    }
    switch (first) {
      case 'api':
      case 'apis':
        return this.#discovery.handle(request, pathname)
      case 'openapi':
        return (await this.#loadOpenApi()).handle(request, pathname, query)
      case 'version':
        return pathname === '/version' || pathname === '/version/' ? json(200, versionInfo()) : undefined
      case 'healthz':
      case 'livez':
      case 'readyz':
        return health(first, pathname, query)
      case 'metrics':
        return text(200, this.#metrics())
      case '':
        return pathname === '/' ? json(200, { paths: this.#pathList() }) : undefined
      default: {
        const document = this.#documents[pathname]
        return document === undefined ? undefined : json(200, await document())
      }
    }
  }

  /** Imported when first used: many clients never read the schemas. Its documents are cached, so there is only one. */
  async #loadOpenApi(): Promise<OpenApi> {
    const { OpenApi } = await import('./openapi.ts')
    this.#openApi ??= new OpenApi(this.#registry)
    return this.#openApi
  }

  #pathList(): string[] {
    const groups = this.#registry
      .groups()
      .flatMap(({ group, versions }) =>
        group === '' ? [] : [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)],
      )
    return [
      '/api',
      '/api/v1',
      '/apis',
      ...groups,
      '/healthz',
      '/livez',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/readyz',
      '/version',
    ]
  }

  #metrics(): string {
    const lines = [
      '# HELP apiserver_storage_objects Number of stored objects by resource.',
      '# TYPE apiserver_storage_objects gauge',
    ]
    for (const collection of this.#store.collections()) {
      lines.push(`apiserver_storage_objects{resource="${collection}"} ${this.#store.count(collection)}`)
    }
    return `${lines.join('\n')}\n`
  }
}

function health(kind: string, pathname: string, query: URLSearchParams): ServerResponse | undefined {
  const check = pathname.slice(kind.length + 2)
  if (check !== '') return checks.includes(check) ? text(200, 'ok') : undefined
  const headers = { 'x-content-type-options': 'nosniff' }
  if (!query.has('verbose')) return text(200, 'ok', headers)
  const excluded = query.getAll('exclude')
  const lines = checks.map((name) => `[+]${name} ${excluded.includes(name) ? 'excluded: ok' : 'ok'}`)
  return text(200, `${lines.join('\n')}\n${kind} check passed\n`, headers)
}
