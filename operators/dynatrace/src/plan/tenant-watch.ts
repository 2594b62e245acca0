/** Between the operator and tenants: forwards reads, and records changes instead of sending them. */

import { isRecord, type OutboundRequest, type OutboundResponse, readBody, type Sender } from '@reeve/http'
import { KNOWN_AFTER_APPLY } from '@reeve/plan'
import { KUBERNETES_SCHEMA } from '../tenant/client/settings-objects.ts'
import { foresee, isQuestion, type TenantChange } from './tenant-changes.ts'

/** A request that is neither a read nor a known change. It was not sent. */
class UnforeseenRequestError extends Error {
  readonly code = 'PLAN_UNFORESEEN_REQUEST'
  override readonly name = 'UnforeseenRequestError'

  constructor({ method, url }: OutboundRequest) {
    super(`a plan sends no changes, and the effect of ${method} ${url.host}${url.pathname} is unknown; it was not sent`)
  }
}

/** Retry later. */
const UNAVAILABLE: readonly number[] = [429, 503]

/**
 * Watches over all requests of a plan.
 *
 * *Guarantees*: only reads reach the senders behind it.
 *
 * @example
 * const watch = new TenantWatch()
 * const client = createTenantClient({ ...options, sender: watch.over(openOutbound(options)) })
 */
export class TenantWatch {
  readonly #changes = new Map<string, TenantChange>()
  readonly #unavailable = new Map<string, number>()
  /** Names of clusters that would be announced, by tenant. */
  readonly #announced = new Map<string, string>()

  /** What would change, in the order in which it came up. */
  get changes(): readonly TenantChange[] {
    return [...this.#changes.values()]
  }

  /** Tenants whose last response was that they are unavailable, with its status. */
  get unavailable(): ReadonlyMap<string, number> {
    return this.#unavailable
  }

  /** A sender that passes only reads on to `sender`. */
  over(sender: Sender): Sender {
    return { send: (request) => this.#send(sender, request), close: () => sender.close() }
  }

  async #send(sender: Sender, request: OutboundRequest): Promise<OutboundResponse> {
    if (!isQuestion(request)) return this.#foreseen(request)
    const { url } = request
    if (isAboutAnnounced(url)) {
      // An entity that does not exist yet has no settings; those of the tenant apply to it.
      if (!url.pathname.endsWith('/effectiveValues')) return jsonResponse(url, 200, { items: [], totalCount: 0 })
      const asked = new URL(url)
      asked.searchParams.set('scope', 'environment')
      return this.#ask(sender, { ...request, url: asked })
    }
    const label = this.#announced.get(url.host)
    return label !== undefined && isClusterSearch(url)
      ? this.#findAnnounced(sender, request, label)
      : this.#ask(sender, request)
  }

  /** The tenant may know a cluster that is registered again. */
  async #findAnnounced(sender: Sender, request: OutboundRequest, label: string): Promise<OutboundResponse> {
    const response = await this.#ask(sender, request)
    if (response.status !== 200) return response
    const found: unknown = JSON.parse((await readBody(response)).toString())
    const isKnown = isRecord(found) && Array.isArray(found.items) && found.items.length > 0
    const items = [{ scope: KNOWN_AFTER_APPLY, value: { label } }]
    return jsonResponse(request.url, 200, isKnown ? found : { items })
  }

  async #ask(sender: Sender, request: OutboundRequest): Promise<OutboundResponse> {
    const response = await sender.send(request)
    const { host } = request.url
    if (UNAVAILABLE.includes(response.status)) this.#unavailable.set(host, response.status)
    else this.#unavailable.delete(host)
    return response
  }

  #foreseen(request: OutboundRequest): OutboundResponse {
    const foreseen = foresee(request)
    if (foreseen === undefined) throw new UnforeseenRequestError(request)
    const { change, status, body } = foreseen
    // Every round requests again what a tenant does not have.
    this.#changes.set(`${change.tenant} ${change.action} ${change.what}`, change)
    this.#remember(request)
    return jsonResponse(request.url, status, body)
  }

  #remember({ url, body }: OutboundRequest): void {
    const [setting] = [JSON.parse(String(body ?? 'null'))].flat()
    if (!isRecord(setting) || setting.schemaId !== KUBERNETES_SCHEMA || !isRecord(setting.value)) return
    this.#announced.set(url.host, String(setting.value.label ?? ''))
  }
}

const isAboutAnnounced = ({ searchParams }: URL): boolean =>
  [searchParams.get('scope'), searchParams.get('scopes')].includes(KNOWN_AFTER_APPLY)

const isClusterSearch = ({ searchParams }: URL): boolean =>
  searchParams.get('schemaIds') === KUBERNETES_SCHEMA && (searchParams.get('filter') ?? '').includes('clusterId')

function jsonResponse(url: URL, status: number, body: unknown): OutboundResponse {
  const text = body === '' ? '' : JSON.stringify(body)
  return { status, headers: { 'content-type': 'application/json' }, url, body: once(text) }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
