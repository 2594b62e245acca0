/** The last reconciles, bounded in number and size: overall and per resource. */
import { CONSOLE_LIMITS } from '../limits.ts'
import type { Reconcile } from '../wire.ts'

/** Limits of {@link Journal}. */
export interface JournalLimits {
  readonly reconciles: number
  readonly reconcilesPerResource: number
  /** As JSON. */
  readonly journalBytes: number
}

/** Which reconciles to list. */
export interface JournalQuery {
  /** Of this resource only. */
  readonly resource?: string
  readonly operator?: string
  readonly controller?: string
  /** Only those with a write or a failure. */
  readonly isTelling?: boolean
  /** Only earlier ones. */
  readonly before?: number
  readonly limit: number
}

/** The id of a resource, in the journal and in addresses of pages. */
export function resourceId(of: {
  readonly operator: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}): string {
  return [of.operator, of.kind, of.namespace ?? '', of.name].join('/')
}

/**
 * Keeps reconciles in the order of their ends.
 *
 * *Guarantees*: never holds more than its limits, whatever arrives; the newest are kept.
 *
 * @example
 * const journal = new Journal()
 * journal.add(reconcile)
 * journal.list({ resource: 'webapp-operator/WebApp/shop/web', limit: 20 })
 */
export class Journal {
  readonly #limits: JournalLimits
  /** By sequence; a Map keeps the order of insertion. */
  readonly #entries = new Map<number, { readonly reconcile: Reconcile; readonly bytes: number }>()
  readonly #byResource = new Map<string, number[]>()
  #bytes = 0

  constructor(limits: JournalLimits = CONSOLE_LIMITS) {
    this.#limits = limits
  }

  get size(): number {
    return this.#entries.size
  }

  /** Size of what is kept, as JSON. */
  get bytes(): number {
    return this.#bytes
  }

  add(reconcile: Reconcile): void {
    const { reconciles, reconcilesPerResource, journalBytes } = this.#limits
    const { sequence } = reconcile
    const bytes = JSON.stringify(reconcile).length
    this.#entries.set(sequence, { reconcile, bytes })
    this.#bytes += bytes
    const id = resourceId(reconcile)
    const own = this.#byResource.get(id) ?? []
    own.push(sequence)
    this.#byResource.set(id, own)
    if (own.length > reconcilesPerResource) this.#drop(own[0])
    while (this.#entries.size > reconciles || this.#bytes > journalBytes) this.#drop(this.#entries.keys().next().value)
  }

  /** Newest first. */
  list(query: JournalQuery): readonly Reconcile[] {
    const { resource, limit } = query
    const sequences = resource === undefined ? [...this.#entries.keys()] : (this.#byResource.get(resource) ?? [])
    const found: Reconcile[] = []
    for (let at = sequences.length - 1; at >= 0 && found.length < limit; at--) {
      const entry = this.#entries.get(sequences[at] ?? -1)
      if (entry !== undefined && matches(entry.reconcile, query)) found.push(entry.reconcile)
    }
    return found
  }

  #drop(sequence: number | undefined): void {
    const entry = sequence === undefined ? undefined : this.#entries.get(sequence)
    if (sequence === undefined || entry === undefined) return
    this.#entries.delete(sequence)
    this.#bytes -= entry.bytes
    const id = resourceId(entry.reconcile)
    const left = (this.#byResource.get(id) ?? []).filter((one) => one !== sequence)
    if (left.length === 0) this.#byResource.delete(id)
    else this.#byResource.set(id, left)
  }
}

function matches(reconcile: Reconcile, { operator, controller, isTelling, before }: JournalQuery): boolean {
  return (
    (operator === undefined || reconcile.operator === operator) &&
    (controller === undefined || reconcile.controller === controller) &&
    (before === undefined || reconcile.sequence < before) &&
    (!isTelling || reconcile.writes.length > 0 || reconcile.error !== undefined)
  )
}
