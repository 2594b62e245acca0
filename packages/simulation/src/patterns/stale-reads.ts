/** Shows one kind as it was at an earlier event, to an instance that starts: which of its reads may be that old. */
import { DELIVER, PASS, type RequestFate, type ResponseFate, type SeamRequest } from '../world/disturbance.ts'
import { LEASES, selectionId } from '../world/request-facts.ts'
import type { World } from '../world/world.ts'

/** Options of {@link StaleReads}. */
export interface StaleReadsOptions {
  /** What is shown at that version. */
  readonly resource: string
  /** Lists from which the operator continues to watch, by selection: see {@link viewFillingLists}. */
  readonly filling: ReadonlySet<string>
  readonly lastsMs: number
  /** Called once the operator has read something that is old. */
  readonly onEffect: (text: string, lastsMs: number) => void
}

/**
 * Serves reads from the past.
 *
 * *Watches* that begin with the current state, and lists that accept any age, show the old view, as a server that has
 * fallen behind does. The same goes for *lists that fill a view*, from whose version a watch continues: what a cache
 * contains may be old at any time, however it was filled. Any *other list* is read once and acted on: it may be old
 * only as long as nothing newer was read before it, as if the process had stood still between the two. Reads of a
 * *single object* are always current: that is how an operator makes sure.
 */
export class StaleReads {
  readonly #world: World
  readonly #options: StaleReadsOptions
  #untilMs = Number.NEGATIVE_INFINITY
  #firstInstance = Number.POSITIVE_INFINITY
  /** How old the view is. */
  #revision = 0
  /** Instances that have read or written something as of now. */
  readonly #current = new Set<number>()
  readonly #stale = new Set<number>()
  /** The revision of the last change of the kind. */
  #newest = 0

  constructor(world: World, options: StaleReadsOptions) {
    this.#world = world
    this.#options = options
    world.cluster.api.subscribe(({ resource, object }) => {
      if (resource !== options.resource) return
      const { resourceVersion } = object.metadata as { readonly resourceVersion?: string }
      this.#newest = Number(resourceVersion)
    })
  }

  /** From now on new instances see the old view, for a while. */
  begin(revision: number): void {
    const { resource, lastsMs } = this.#options
    this.#revision = revision
    const { faults } = this.#world.cluster
    this.#untilMs = this.#world.elapsedMs + lastsMs
    this.#firstInstance = this.#world.instances.length + 1
    faults.freeze(resource, { revision })
    this.#world.clock.schedule(lastsMs, () => faults.thaw(resource))
  }

  onRequest(request: SeamRequest): RequestFate {
    if (!this.#isActive(request) || request.resource !== this.#options.resource) return PASS
    if (request.verb === 'watch') this.#note(request)
    if (request.verb !== 'list' || !this.#mayBeOld(request)) return PASS
    this.#note(request)
    return { type: 'past', resourceVersion: String(this.#revision) }
  }

  onResponse(request: SeamRequest): ResponseFate {
    const isRead = request.verb === 'get' || request.verb === 'list'
    const isTelling = request.isWrite || (isRead && !this.#stale.has(request.index))
    if (isTelling && request.resource !== '' && request.resource !== LEASES) this.#current.add(request.instance)
    return DELIVER
  }

  #isActive({ instance }: SeamRequest): boolean {
    return instance >= this.#firstInstance && this.#world.elapsedMs < this.#untilMs
  }

  #mayBeOld(request: SeamRequest): boolean {
    const isFilling = request.resourceVersion === '0' || this.#options.filling.has(selectionId(request))
    return isFilling || !this.#current.has(request.instance)
  }

  #note(request: SeamRequest): void {
    const { resource, lastsMs, onEffect } = this.#options
    this.#stale.add(request.index)
    // A view is old only when something has happened since.
    if (this.#newest > this.#revision) onEffect(`${resource} are shown as of revision ${this.#revision}`, lastsMs)
  }
}

/** Selections that an operator lists and continues to watch from there. */
export function viewFillingLists(requests: readonly SeamRequest[]): ReadonlySet<string> {
  const listed = new Set<string>()
  const filling = new Set<string>()
  for (const request of requests) {
    const id = selectionId(request)
    if (request.verb === 'list') listed.add(id)
    const isContinued = request.verb === 'watch' && !['', '0', undefined].includes(request.resourceVersion)
    if (isContinued && listed.has(id)) filling.add(id)
  }
  return filling
}
