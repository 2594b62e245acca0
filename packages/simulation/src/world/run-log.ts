/** What happened in one run: requests, events, calls and timers in their order, and the writes that took effect. */
import type { SeamCall, SeamEvent, SeamRequest } from './disturbance.ts'
import type { Occurrences } from './occurrences.ts'
import { describeRequest, isBookkeeping, LEASES, objectId, type RequestFacts } from './request-facts.ts'
import { Trace, type TraceKind } from './trace.ts'

/** One step of the scheduler. */
export interface SchedulerStep {
  readonly kind: 'request' | 'response' | 'event' | 'timer'
  /** Among its kind; responses have that of their request. */
  readonly index: number
  /** Repeats all the time, whether there is something to do or not. */
  readonly isHeartbeat: boolean
}

/** A write of the operator that the server processed. */
export interface CommittedWrite extends SeamRequest {
  readonly atMs: number
  readonly status: number
}

/** A request of the operator that the server rejected. */
export interface RejectedRequest extends SeamRequest {
  readonly status: number
  /** What the server said. */
  readonly message: string
}

/** The numbers of what happens in a run. */
export interface Numbering {
  readonly requests: Occurrences
  readonly events: Occurrences
}

/** Collects what happens. Nothing that happens during a rest has an index: no fault is injected there. */
export class RunLog {
  readonly trace = new Trace()
  /** Requests and events outside rests, where the heartbeat of watches would drown everything else. */
  readonly requests: SeamRequest[] = []
  readonly events: SeamEvent[] = []
  readonly calls: SeamCall[] = []
  /** All of these, the responses and the timers, in the order in which they happened. */
  readonly steps: SchedulerStep[] = []
  /** Bookkeeping included. */
  readonly writes: CommittedWrite[] = []
  /** Set while time passes without a reason to write. */
  isResting = false
  /** Requests during rests, watches and leases left out. */
  readonly requestsAtRest: SeamRequest[] = []
  /** By the server, not by a fault. */
  readonly rejected: RejectedRequest[] = []
  readonly #numbering: Numbering | undefined
  #requestCount = 0
  #eventCount = 0
  #timerCount = 0

  /** @param numbering for runs that are not the same request by request. @default by their order */
  constructor(numbering?: Numbering) {
    this.#numbering = numbering
  }

  /** What another run takes its numbers from. */
  get numbering(): Numbering | undefined {
    return this.#numbering
  }

  nextRequest(facts: RequestFacts): number {
    if (this.isResting) return -1
    return this.#numbering?.requests.next(describeRequest(facts)) ?? this.#requestCount++
  }

  /** @param description such as `MODIFIED deployments.apps default/shop` */
  nextEvent(description: string): number {
    if (this.isResting) return -1
    return this.#numbering?.events.next(description) ?? this.#eventCount++
  }

  request(request: SeamRequest): void {
    if (!this.isResting) {
      this.requests.push(request)
      this.steps.push(stepOf('request', request))
    } else if (request.resource !== LEASES && request.verb !== 'watch') this.requestsAtRest.push(request)
  }

  response(request: SeamRequest): void {
    if (!this.isResting) this.steps.push(stepOf('response', request))
  }

  event(event: SeamEvent): void {
    this.events.push(event)
    this.steps.push({ kind: 'event', index: event.index, isHeartbeat: false })
  }

  /** Returns the index of the timer that fires. */
  timer(): number {
    const index = this.#timerCount++
    this.steps.push({ kind: 'timer', index, isHeartbeat: true })
    return index
  }

  record(atMs: number, instance: number, kind: TraceKind, text: string): void {
    this.trace.add({ atMs, instance, kind, text })
  }

  /** Writes to what the operator manages: neither leases nor events count. */
  get managedWrites(): readonly CommittedWrite[] {
    return this.writes.filter(({ resource }) => !isBookkeeping(resource))
  }

  /** Successful creations, or deletions, of each object by the operator. */
  countByObject(what: 'create' | 'delete'): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const write of this.managedWrites) {
      if (write.subresource !== undefined) continue
      // An apply that creates an object returns 201.
      const isCreation = write.verb === 'create' || (write.verb === 'patch' && write.status === 201)
      if (what === 'create' ? !isCreation : write.verb !== 'delete') continue
      const id = objectId(write)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  }
}

function stepOf(kind: 'request' | 'response', { index, resource }: SeamRequest): SchedulerStep {
  return { kind, index, isHeartbeat: resource === LEASES }
}
