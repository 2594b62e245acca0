/** Wraps a pattern: records what happens, ends runs that would never end, and calls the pattern. */
import {
  type CallFate,
  DELIVER,
  type Disturbance,
  type EventFate,
  PASS,
  type RequestFate,
  type ResponseFate,
  type SeamCall,
  type SeamEvent,
  type SeamRequest,
} from './disturbance.ts'
import type { RunLog } from './run-log.ts'

/** What passes the seam, before the pattern decides on it. */
export class ObservedDisturbance implements Disturbance {
  readonly #log: RunLog
  readonly #isRunaway: (request: SeamRequest) => boolean
  /** The faults; a pattern sets them once it knows its world. */
  faults: Disturbance

  /** @param isRunaway called for every request; true when the run is cut off */
  constructor(log: RunLog, faults: Disturbance, isRunaway: (request: SeamRequest) => boolean) {
    this.#log = log
    this.faults = faults
    this.#isRunaway = isRunaway
  }

  onRequest(request: SeamRequest): RequestFate | Promise<RequestFate> {
    if (this.#isRunaway(request)) return PASS
    this.#log.request(request)
    return this.faults.onRequest?.(request) ?? PASS
  }

  onResponse(request: SeamRequest, status: number): ResponseFate {
    this.#log.response(request)
    return this.faults.onResponse?.(request, status) ?? DELIVER
  }

  onEvent(event: SeamEvent): EventFate {
    if (this.#log.isResting) return DELIVER
    this.#log.event(event)
    return this.faults.onEvent?.(event) ?? DELIVER
  }

  onCall(call: SeamCall): CallFate {
    return this.faults.onCall?.(call) ?? 'deliver'
  }

  onCalling(call: SeamCall): void {
    this.faults.onCalling?.(call)
  }

  onCalled(call: SeamCall): void {
    this.faults.onCalled?.(call)
  }

  /** A timer of an instance fires. */
  timerFired(instance: number): void {
    if (this.#log.isResting) return
    this.faults.onTimer?.({ index: this.#log.timer(), instance })
  }
}
