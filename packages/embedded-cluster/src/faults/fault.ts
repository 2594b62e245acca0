/** What can go wrong on purpose, and for which requests. */

/** What is known of a request when a fault is chosen. */
export interface RequestFacts {
  /** `get`, `list`, `watch`, `create`, …; for paths that are no resource the method in lower case. */
  readonly verb: string
  /** Such as `pods` or `deployments.apps`; empty for paths that are no resource. */
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly method: string
  /** Path with query string. */
  readonly path: string
  readonly userAgent: string
  readonly username: string
}

/** Which requests a fault is for; an absent field matches all. */
export interface FaultMatch {
  readonly verb?: string | readonly string[]
  readonly resource?: string
  /** `''` matches only requests for the object itself. */
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly where?: (facts: RequestFacts) => boolean
}

/** Something that goes wrong. */
export type Fault =
  /** The request is refused with this Status and has no effect. */
  | {
      readonly kind: 'status'
      readonly code: number
      readonly reason?: string
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  /** The request is carried out after a delay on the cluster's clock. */
  | { readonly kind: 'latency'; readonly delayMs: number }
  /** The connection breaks before the request has an effect, or after the effect and before the answer. */
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** The watch ends after this many events: cleanly, as a broken connection, or with a 410 in the stream. */
  | { readonly kind: 'watch-end'; readonly afterEvents: number; readonly how: 'close' | 'reset' | 'expired' }
  /** The watch stays open and sends nothing after this many events. */
  | { readonly kind: 'watch-silence'; readonly afterEvents: number }
  /** The watch loses `count` events after this many. */
  | { readonly kind: 'watch-gap'; readonly afterEvents: number; readonly count: number }

/** How often a rule applies. */
export interface FaultSchedule {
  /** Matching requests that pass unharmed first. @default 0 */
  readonly after?: number
  /** Matching requests that then fail; `Infinity` for all. @default 1 */
  readonly times?: number
}

/** Whether `facts` are what `match` asks for. */
export function matches(match: FaultMatch, facts: RequestFacts): boolean {
  const { verb } = match
  if (verb !== undefined && (typeof verb === 'string' ? verb !== facts.verb : !verb.includes(facts.verb))) return false
  if (match.resource !== undefined && match.resource !== facts.resource) return false
  if (match.subresource !== undefined && match.subresource !== (facts.subresource ?? '')) return false
  if (match.namespace !== undefined && match.namespace !== facts.namespace) return false
  if (match.name !== undefined && match.name !== facts.name) return false
  return match.where?.(facts) ?? true
}

/** A connection that broke on purpose. Its `code` is what a socket reports. */
export class ConnectionReset extends Error {
  readonly code = 'ECONNRESET'

  constructor(when: string) {
    super(`connection reset ${when}, as a fault rule asked`)
    this.name = 'ConnectionReset'
  }
}
