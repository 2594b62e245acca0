/** Counts the requests to the server, so that a test can assert "no writes, no reads". */
import type { RequestFacts } from './fault.ts'

const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])
const reads = new Set(['get', 'list'])

/** A completed request. */
export interface CompletedRequest extends RequestFacts {
  readonly status: number
}

/** Counters by verb and resource, and a listener for tests that need every request. */
export class RequestLog {
  readonly #counts = new Map<string, number>()
  readonly #listeners = new Set<(request: CompletedRequest) => void>()

  /** Records a completed request. */
  record(request: CompletedRequest): void {
    const key = `${request.verb} ${request.resource}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    for (const listener of this.#listeners) listener(request)
  }

  /** The number of requests with this verb, on this resource, or all. */
  count(filter: { readonly verb?: string; readonly resource?: string } = {}): number {
    let total = 0
    for (const [key, count] of this.#counts) {
      const [verb, resource] = key.split(' ')
      if (filter.verb !== undefined && filter.verb !== verb) continue
      if (filter.resource !== undefined && filter.resource !== resource) continue
      total += count
    }
    return total
  }

  /** The number of requests that change objects. */
  get writes(): number {
    return this.#sum(writes)
  }

  /** The number of requests that read objects, excluding watches. */
  get reads(): number {
    return this.#sum(reads)
  }

  /** Every counter, such as `{ 'create pods': 3 }`. */
  snapshot(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Resets all counters. */
  reset(): void {
    this.#counts.clear()
  }

  /** Calls `listener` after every request. Returns the function that unsubscribes. */
  onRequest(listener: (request: CompletedRequest) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #sum(verbs: ReadonlySet<string>): number {
    let total = 0
    for (const [key, count] of this.#counts) {
      const [verb = '', resource = ''] = key.split(' ')
      // Discovery and health checks are not reads of objects.
      if (resource !== '' && verbs.has(verb)) total += count
    }
    return total
  }
}
