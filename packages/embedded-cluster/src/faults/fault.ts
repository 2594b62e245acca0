/** The faults that can be injected, and the requests they match. */

/** The properties of a request that rules can match. */
export interface RequestFacts {
  /** `get`, `list`, `watch`, `create`, …; for other paths the method in lower case. */
  readonly verb: string
  /** Such as `pods` or `deployments.apps`; empty for other paths. */
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

/** The requests that a fault applies to; an absent field matches all. */
export interface FaultMatch {
  readonly verb?: string | readonly string[]
  readonly resource?: string
  /** `''` matches only requests for the object itself. */
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly where?: (facts: RequestFacts) => boolean
}

/** An injected fault. */
export type Fault =
  /** The request is rejected with this Status and has no effect. */
  | {
      readonly kind: 'status'
      readonly code: number
      readonly reason?: string
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  /** The request is processed after a delay on the cluster's clock. */
  | { readonly kind: 'latency'; readonly delayMs: number }
  /** The connection breaks before the request has an effect, or after the effect and before the response. */
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** The watch ends after this many events: cleanly, as a broken connection, or with a 410 in the stream. */
  | { readonly kind: 'watch-end'; readonly afterEvents: number; readonly how: 'close' | 'reset' | 'expired' }
  /** The watch stays open and sends nothing after this many events. */
  | { readonly kind: 'watch-silence'; readonly afterEvents: number }
  /** The watch drops `count` events after this many. */
  | { readonly kind: 'watch-gap'; readonly afterEvents: number; readonly count: number }

/** How often a rule applies. */
export interface FaultSchedule {
  /** Matching requests that are not affected first. @default 0 */
  readonly after?: number
  /** Matching requests that are affected after that; `Infinity` for all. @default 1 */
  readonly times?: number
}

/** Whether a request matches. */
export function matches(match: FaultMatch, facts: RequestFacts): boolean {
  const { verb } = match
  if (verb !== undefined && (typeof verb === 'string' ? verb !== facts.verb : !verb.includes(facts.verb))) return false
  if (match.resource !== undefined && match.resource !== facts.resource) return false
  if (match.subresource !== undefined && match.subresource !== (facts.subresource ?? '')) return false
  if (match.namespace !== undefined && match.namespace !== facts.namespace) return false
  if (match.name !== undefined && match.name !== facts.name) return false
  return match.where?.(facts) ?? true
}

/** A connection that was broken by a fault. Its `code` is the one of a socket error. */
export class ConnectionReset extends Error {
  readonly code = 'ECONNRESET'

  constructor(when: string) {
    super(`connection reset ${when}, as injected by a fault rule`)
    this.name = 'ConnectionReset'
  }
}
