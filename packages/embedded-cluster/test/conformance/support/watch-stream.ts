/** An open watch that a case reads line by line while it writes. */
import type { WatchLine } from '@reeve/cluster-under-test'
import type { ConformanceApi, Headers } from './conformance-api.ts'

/** How long a case waits for one line. */
const LINE_TIMEOUT_MS = 20_000

/** Reads a watch; closed when it goes out of scope. */
export class WatchStream implements AsyncDisposable {
  readonly #lines: AsyncGenerator<WatchLine>
  readonly #stop = new AbortController()

  constructor(api: ConformanceApi, path: string, headers: Headers = {}) {
    this.#lines = api.cluster.raw.watch(path, { headers, signal: this.#stop.signal })
  }

  /** The next line; throws if none arrives in time or the server has ended the stream. */
  async next(): Promise<WatchLine> {
    const timer = setTimeout(() => this.#stop.abort(new Error('no line of the watch arrived in time')), LINE_TIMEOUT_MS)
    try {
      const { value, done } = await this.#lines.next()
      if (done === true || value === undefined) throw new Error('the server has ended the watch')
      return value
    } finally {
      clearTimeout(timer)
    }
  }

  /** The next `count` lines. */
  async take(count: number): Promise<WatchLine[]> {
    const lines: WatchLine[] = []
    while (lines.length < count) lines.push(await this.next())
    return lines
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    // The reader ends with the reason of our own abort.
    await this.#lines.return(undefined).catch(() => undefined)
  }
}

/** `ADDED a`, `DELETED b`: type and name of an event. */
export function told({ type, object }: WatchLine): string {
  return `${type} ${object.metadata.name ?? ''}`.trim()
}
