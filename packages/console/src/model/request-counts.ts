/** Requests of an operator to the API server, by verb and status. */
import type { RequestCount } from '../wire.ts'

/** What is counted of a request. */
export interface CountedRequest {
  readonly verb: string
  /** Absent when no response arrived. */
  readonly status?: number
}

/** Counts requests. Verbs and statuses are few, so it is small. */
export class RequestCounts {
  readonly #counts = new Map<string, { readonly verb: string; readonly status: string; count: number }>()
  #new = 0

  /** For `createClient({ onRequest })`. */
  readonly count = ({ verb, status }: CountedRequest): void => {
    const text = status === undefined ? 'no response' : String(status)
    const id = `${verb} ${text}`
    const known = this.#counts.get(id) ?? { verb, status: text, count: 0 }
    known.count += 1
    this.#counts.set(id, known)
    this.#new += 1
  }

  list(): readonly RequestCount[] {
    return [...this.#counts.values()].toSorted((one, other) =>
      `${one.verb} ${one.status}`.localeCompare(`${other.verb} ${other.status}`),
    )
  }

  /** How many were counted since the last call. */
  takeNew(): number {
    const count = this.#new
    this.#new = 0
    return count
  }
}
