/** Calls to tenants, as a console shows them: counted by name, without addresses, headers and bodies. */
import type { RequestReport } from '@reeve/http'
import type { TenantClient, TenantClientOptions } from '../tenant/client/tenant-client.ts'

/** What is known about one kind of call. */
export interface CallCount {
  readonly call: string
  count: number
  failed: number
  lastMs: number
  /** Of the last one: its status, or the code of its error. */
  last: string
  longestMs: number
}

const FIRST_FAILURE_STATUS = 400

/** Counts calls. Their names are few, so it is small. */
export class TenantCalls {
  readonly #calls = new Map<string, CallCount>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** The same clients, with their calls counted. */
  observed(connect: (options: TenantClientOptions) => TenantClient) {
    return (options: TenantClientOptions): TenantClient =>
      connect({
        ...options,
        onRequest: (report) => {
          this.#note(report)
          options.onRequest?.(report)
        },
      })
  }

  list(): readonly CallCount[] {
    return [...this.#calls.values()].toSorted((one, other) => other.lastMs - one.lastMs)
  }

  #note({ call, status, errorCode, durationMs }: RequestReport): void {
    const known = this.#calls.get(call) ?? { call, count: 0, failed: 0, lastMs: 0, last: '', longestMs: 0 }
    known.count += 1
    if (status === undefined || status >= FIRST_FAILURE_STATUS) known.failed += 1
    known.lastMs = this.#now()
    known.last = status === undefined ? (errorCode ?? 'no response') : String(status)
    known.longestMs = Math.max(known.longestMs, durationMs)
    this.#calls.set(call, known)
  }
}
