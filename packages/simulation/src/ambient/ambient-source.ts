/** The source of time, timers and randomness of code, by asynchronous context. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '@reeve/http'

/** Time and randomness of one instance, or of the users of a run. */
export interface AmbientSource {
  readonly clock: Clock
  readonly random: () => number
}

const sources = new AsyncLocalStorage<AmbientSource | undefined>()

/** Runs `action`, and everything that it starts, with this source. */
export function withAmbient<R>(source: AmbientSource, action: () => R): R {
  return sources.run(source, action)
}

/** Runs `action` with the time and randomness of the machine. */
export function withoutAmbient<R>(action: () => R): R {
  return sources.run(undefined, action)
}

/** The source of the code that runs now; `undefined` for code that is not under test. */
export function ambientSource(): AmbientSource | undefined {
  return sources.getStore()
}
