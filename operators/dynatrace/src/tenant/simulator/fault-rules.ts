/** Fault rules: which calls fail, how, and how often. */
import { STATE_LIMITS } from './defaults.ts'
import type { Call } from './http/call.ts'
import { SimulatorError } from './simulator-error.ts'

/** Which calls a rule matches. Fields that are left out match every call. */
export interface CallMatch {
  /** Id of the tenant. */
  readonly tenant?: string
  /** Name of the call, such as `agent-connection-info`; see the table of the documentation. */
  readonly operation?: string
  readonly method?: string
  /** Occurs in the path. */
  readonly path?: string
  /** Name of the token that the call carries. */
  readonly token?: string
}

/**
 * How a call fails.
 * - `unauthorized`: 401, as for a token that was revoked.
 * - `missing-scope`: 403.
 * - `rate-limit`: 429, with Retry-After unless `retryAfterSeconds` is null.
 * - `status`: any other status. `bodyCode` is the code inside the body when it is to differ from the status; `body`
 *   chooses a page in HTML, as proxies send it, or nothing at all instead of the API's own form.
 * - `slow`: the response is delayed.
 * - `cut`: the connection is closed after `afterBytes` of the body, or before the headers without it.
 * - `content-type`: the response has this content type instead of its own.
 * - `malformed-json`: half of the body, as a complete HTTP response.
 */
export type Fault =
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'missing-scope' }
  | { readonly kind: 'rate-limit'; readonly retryAfterSeconds?: number | null }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly bodyCode?: number
      readonly message?: string
      readonly body?: 'api' | 'html' | 'empty'
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'cut'; readonly afterBytes?: number }
  | { readonly kind: 'content-type'; readonly contentType: string }
  | { readonly kind: 'malformed-json' }

/** A fault of matching calls, or of the certificate, which clients see before any call. */
export type FaultRule =
  | (CallMatch & Fault & { /** How many calls. @default until it is removed */ readonly times?: number })
  | { readonly kind: 'expired-certificate' }

/** A rule, and how often it was used. */
export interface ActiveFaultRule {
  readonly id: number
  readonly rule: FaultRule
  /** How many calls it was injected into. */
  readonly injected: number
}

interface Entry {
  readonly id: number
  readonly rule: FaultRule
  injected: number
}

/** The active rules. The first rule of a kind that matches a call is injected; rules of different kinds are combined. */
export class FaultRules {
  readonly #entries = new Map<number, Entry>()
  readonly #onCertificate: (isExpired: boolean) => void
  #lastId = 0

  /** @param onCertificate called when the server has to start or stop showing an expired certificate */
  constructor(onCertificate: (isExpired: boolean) => void) {
    this.#onCertificate = onCertificate
  }

  /** Adds a rule; the returned function removes it. */
  add(rule: FaultRule): { readonly id: number; remove(): void } {
    if (this.#entries.size >= STATE_LIMITS.faultRules) {
      throw new SimulatorError('SIMULATOR_OPTIONS', `there are ${this.#entries.size} fault rules: clear some`)
    }
    const id = ++this.#lastId
    this.#entries.set(id, { id, rule, injected: 0 })
    if (rule.kind === 'expired-certificate') this.#onCertificate(true)
    return { id, remove: () => this.remove(id) }
  }

  remove(id: number): void {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    const isExpired = [...this.#entries.values()].some(({ rule }) => rule.kind === 'expired-certificate')
    if (entry?.rule.kind === 'expired-certificate' && !isExpired) this.#onCertificate(false)
  }

  /** Removes all rules. */
  clear(): void {
    for (const id of [...this.#entries.keys()]) this.remove(id)
  }

  list(): readonly ActiveFaultRule[] {
    return [...this.#entries.values()].map(({ id, rule, injected }) => ({ id, rule, injected }))
  }

  /** The faults to inject into this call. Counts against the `times` of their rules. */
  take(call: Call): readonly Fault[] {
    const faults = new Map<Fault['kind'], Fault>()
    for (const entry of [...this.#entries.values()]) {
      const { rule } = entry
      if (rule.kind === 'expired-certificate' || faults.has(rule.kind) || !matches(rule, call)) continue
      entry.injected++
      if (entry.injected >= (rule.times ?? Number.POSITIVE_INFINITY)) this.remove(entry.id)
      faults.set(rule.kind, rule)
    }
    return [...faults.values()]
  }
}

function matches({ tenant, operation, method, path, token }: CallMatch, call: Call): boolean {
  return (
    (tenant === undefined || tenant === call.tenant?.id) &&
    (operation === undefined || operation === call.operation) &&
    (method === undefined || method === call.method) &&
    (path === undefined || call.path.includes(path)) &&
    (token === undefined || token === call.tokenName)
  )
}
