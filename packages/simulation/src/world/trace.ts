/** What happened in a run, in order: what a person reads to understand a divergence, and what proves a replay equal. */
import { createHash } from 'node:crypto'

/** Kinds of entries. */
export type TraceKind = 'step' | 'request' | 'response' | 'event' | 'fault' | 'life' | 'outside'

/** One event of a run. */
export interface TraceEntry {
  /** Milliseconds since the start of the run, in the time of the operator. */
  readonly atMs: number
  /** Which instance of the operator it concerns; 0 for the world around it. */
  readonly instance: number
  readonly kind: TraceKind
  readonly text: string
}

/** Entries kept for reading; the hash covers all of them. */
const MAX_ENTRIES = 5_000

/** Entries that are shown of a run without a fault: as many as a report prints. */
const LAST_ENTRIES = 40

/** Characters; many small pieces take longer than the hash itself. */
const HASHED_AT_ONCE = 16_384

/** Collects the entries of one run. */
export class Trace {
  readonly #entries: TraceEntry[] = []
  readonly #hash = createHash('sha256')
  #unhashed = ''
  #firstFault: number | undefined

  add(entry: TraceEntry): void {
    const { atMs, instance, kind, text } = entry
    this.#unhashed += `${atMs} ${instance} ${kind} ${text}\n`
    if (this.#unhashed.length > HASHED_AT_ONCE) this.#flush()
    if (this.#entries.length >= MAX_ENTRIES) return
    if (entry.kind === 'fault') this.#firstFault ??= this.#entries.length
    this.#entries.push(entry)
  }

  /** The same for two runs exactly when everything happened at the same virtual time in the same order. */
  hash(): string {
    this.#flush()
    return this.#hash.copy().digest('hex')
  }

  #flush(): void {
    this.#hash.update(this.#unhashed)
    this.#unhashed = ''
  }

  get entries(): readonly TraceEntry[] {
    return this.#entries
  }

  /**
   * The part worth reading: from a little before the first fault, and the end where there was none; without the heartbeat
   * of watches and leases.
   */
  excerpt(before = 15, max = 120): readonly TraceEntry[] {
    const start = Math.max(0, (this.#firstFault ?? 0) - before)
    const shown = this.#entries
      .slice(start)
      .filter(({ kind, text }) => kind === 'fault' || !/^(BOOKMARK|watch |200 watch )|leases\.coordination/.test(text))
    return this.#firstFault === undefined ? shown.slice(-LAST_ENTRIES) : shown.slice(0, max)
  }
}

/**
 * One line for one entry.
 *
 * @example
 * formatEntry({ atMs: 1_500, instance: 1, kind: 'request', text: 'create services default/shop' })
 */
export function formatEntry({ atMs, instance, kind, text }: TraceEntry): string {
  const who = instance === 0 ? 'world' : `op-${instance}`
  return `${(atMs / 1_000).toFixed(3).padStart(10)}s ${who.padEnd(6)} ${kind.padEnd(8)} ${text}`
}
