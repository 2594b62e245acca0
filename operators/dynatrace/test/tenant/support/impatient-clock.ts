/** A clock for tests over real sockets: deadlines are real, pauses between attempts are recorded and skipped. */
import { type Clock, systemClock } from '@reeve/http'

/** Deadlines of calls are a minute and more, pauses between tries a few seconds. */
const LONGEST_PAUSE_MS = 10_000

/** See the module. */
export class ImpatientClock implements Clock {
  /** In the order of the requests. */
  readonly pausesMs: number[] = []

  now(): number {
    return systemClock.now()
  }

  schedule(delayMs: number, action: () => void) {
    if (delayMs > LONGEST_PAUSE_MS) return systemClock.schedule(delayMs, action)
    this.pausesMs.push(delayMs)
    return systemClock.schedule(0, action)
  }
}
