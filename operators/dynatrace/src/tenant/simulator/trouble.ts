/** Fault rules: which calls fail, how, and how often. */
import { STATE_LIMITS } from './defaults.ts'
import type { Call } from './http/call.ts'
import { SimulatorError } from './simulator-error.ts'

/** Which calls a rule is about. What is left out fits every call. */
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
 * How a call goes wrong.
 * - `unauthorized`: 401, as for a token that was revoked.
 * - `missing-scope`: 403.
 * - `rate-limit`: 429, with Retry-After unless `retryAfterSeconds` is null.
 * - `status`: any other status. `bodyCode` is the code inside the body when it is to differ from the status; `body`
 *   chooses a page in HTML, as proxies send it, or nothing at all instead of the API's own form.
 * - `slow`: the answer waits.
 * - `cut`: the connection breaks after so many bytes of the body; without `afterBytes` before the headers.
 * - `content-type`: the answer claims to be something else.
 * - `malformed-json`: half of the answer, complete as far as HTTP is concerned.
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

/** A fault of some calls, or of the certificate, which is shown before the call is known. */
export type TroubleRule =
  | (CallMatch & Fault & { /** How many calls. @default until it is removed */ readonly times?: number })
  | { readonly kind: 'expired-certificate' }

/** A rule that is in force. */
export interface ActiveTrouble {
  readonly id: number
  readonly rule: TroubleRule
  /** How often it struck. */
  readonly struck: number
}

interface Entry {
  readonly id: number
  readonly rule: TroubleRule
  struck: number
}

/** The rules in force. The first rule of a kind that fits a call strikes; kinds add up. */
export class Trouble {
  readonly #entries = new Map<number, Entry>()
  readonly #onCertificate: (isExpired: boolean) => void
  #lastId = 0

  /** @param onCertificate called when the server has to start or stop showing an expired certificate */
  constructor(onCertificate: (isExpired: boolean) => void) {
    this.#onCertificate = onCertificate
  }

  /** Puts a rule in force; answers with what takes it out again. */
  add(rule: TroubleRule): { readonly id: number; remove(): void } {
    if (this.#entries.size >= STATE_LIMITS.troubleRules) {
      throw new SimulatorError('SIMULATOR_OPTIONS', `there are ${this.#entries.size} fault rules: clear some`)
    }
    const id = ++this.#lastId
    this.#entries.set(id, { id, rule, struck: 0 })
    if (rule.kind === 'expired-certificate') this.#onCertificate(true)
    return { id, remove: () => this.remove(id) }
  }

  remove(id: number): void {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    const isExpired = [...this.#entries.values()].some(({ rule }) => rule.kind === 'expired-certificate')
    if (entry?.rule.kind === 'expired-certificate' && !isExpired) this.#onCertificate(false)
  }

  /** Everything works again. */
  clear(): void {
    for (const id of [...this.#entries.keys()]) this.remove(id)
  }

  list(): readonly ActiveTrouble[] {
    return [...this.#entries.values()].map(({ id, rule, struck }) => ({ id, rule, struck }))
  }

  /** What goes wrong with this call. Rules that were for so many calls only are used up by it. */
  strike(call: Call): readonly Fault[] {
    const faults = new Map<Fault['kind'], Fault>()
    for (const entry of [...this.#entries.values()]) {
      const { rule } = entry
      if (rule.kind === 'expired-certificate' || faults.has(rule.kind) || !fits(rule, call)) continue
      entry.struck++
      if (entry.struck >= (rule.times ?? Number.POSITIVE_INFINITY)) this.remove(entry.id)
      faults.set(rule.kind, rule)
    }
    return [...faults.values()]
  }
}

function fits({ tenant, operation, method, path, token }: CallMatch, call: Call): boolean {
  return (
    (tenant === undefined || tenant === call.tenant?.id) &&
    (operation === undefined || operation === call.operation) &&
    (method === undefined || method === call.method) &&
    (path === undefined || call.path.includes(path)) &&
    (token === undefined || token === call.tokenName)
  )
}
