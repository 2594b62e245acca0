/** The timers of Node on a clock: what `setTimeout` and its relatives are for code under test. */
import { promisify } from 'node:util'
import type { Clock, Timer } from '@reeve/http'
import { ambientSource } from './ambient-source.ts'

type Callback = (...args: unknown[]) => void

/** What `setTimeout` and `setInterval` return: as much of Node's `Timeout` as makes sense on a virtual clock. */
class VirtualTimeout {
  readonly #clock: Clock
  readonly #delayMs: number
  readonly #action: () => void
  readonly #repeats: boolean
  #timer: Timer

  constructor(clock: Clock, delayMs: number, action: () => void, repeats: boolean) {
    this.#clock = clock
    // As Node does it: any delay that is not positive is a millisecond.
    this.#delayMs = delayMs >= 1 ? delayMs : 1
    this.#action = action
    this.#repeats = repeats
    this.#timer = this.#schedule()
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  refresh(): this {
    this.#timer.cancel()
    this.#timer = this.#schedule()
    return this
  }

  close(): this {
    this.#timer.cancel()
    return this
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #schedule(): Timer {
    return this.#clock.schedule(this.#delayMs, () => {
      if (this.#repeats) this.#timer = this.#schedule()
      this.#action()
    })
  }
}

/** Something to wait for, as `node:timers/promises` takes it. */
interface WaitOptions {
  readonly signal?: AbortSignal
}

function wait<T>(clock: Clock, delayMs: number, value: T, { signal }: WaitOptions = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => {
      timer.cancel()
      reject(Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }))
    }
    const timer = clock.schedule(delayMs, () => {
      signal?.removeEventListener('abort', fail)
      resolve(value)
    })
    if (signal?.aborted) fail()
    signal?.addEventListener('abort', fail, { once: true })
  })
}

/** Functions of the machine by their names. */
// biome-ignore lint/suspicious/noExplicitAny: functions of Node with many overloads; arguments are handed on as they are
type Functions<Name extends string> = Readonly<Record<Name, (...args: any[]) => any>>

/** `setTimeout` and the others, for code under test and for all other code. */
export function virtualTimers(timers: Functions<TimerName>): Functions<TimerName> {
  // Copied, because the replacements are going to be where the originals were found.
  const real = Object.fromEntries(TIMER_NAMES.map((name) => [name, timers[name]])) as Functions<TimerName>
  const start = (repeats: boolean, original: (...args: unknown[]) => unknown) =>
    function start(action: Callback, delayMs = 1, ...args: unknown[]): unknown {
      const source = ambientSource()
      if (source === undefined) return original(action, delayMs, ...args)
      return new VirtualTimeout(source.clock, delayMs, () => action(...args), repeats)
    }
  const clear = (original: (handle: unknown) => unknown) => (handle: unknown) => {
    if (handle instanceof VirtualTimeout) handle.close()
    else original(handle)
  }
  const setImmediate = (action: Callback, ...args: unknown[]): unknown => {
    const source = ambientSource()
    if (source === undefined) return real.setImmediate(action, ...args)
    return new VirtualTimeout(source.clock, 0, () => action(...args), false)
  }
  const setTimeout = start(false, real.setTimeout)
  Object.defineProperty(setTimeout, promisify.custom, {
    value: <T>(delayMs: number, value: T, options?: WaitOptions) => {
      const source = ambientSource()
      const original = Reflect.get(real.setTimeout, promisify.custom) as (...args: unknown[]) => Promise<T>
      return source === undefined ? original(delayMs, value, options) : wait(source.clock, delayMs, value, options)
    },
  })
  return {
    setTimeout,
    setInterval: start(true, real.setInterval),
    setImmediate,
    clearTimeout: clear(real.clearTimeout),
    clearInterval: clear(real.clearInterval),
    clearImmediate: clear(real.clearImmediate),
  }
}

/** Names of the timer functions. */
export type TimerName = (typeof TIMER_NAMES)[number]

export const TIMER_NAMES = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
] as const

/** The same for `node:timers/promises`. */
export function virtualTimerPromises(
  real: Functions<'setTimeout' | 'setImmediate' | 'setInterval'>,
): Functions<'setTimeout' | 'setImmediate' | 'setInterval'> {
  async function* ticks<T>(clock: Clock, delayMs: number, value: T, options?: WaitOptions): AsyncGenerator<T> {
    for (;;) yield await wait(clock, delayMs, value, options)
  }
  return {
    setTimeout: (delayMs: number, value: unknown, options?: WaitOptions) => {
      const source = ambientSource()
      return source ? wait(source.clock, delayMs, value, options) : real.setTimeout(delayMs, value, options)
    },
    setImmediate: (value: unknown, options?: WaitOptions) => {
      const source = ambientSource()
      return source ? wait(source.clock, 0, value, options) : real.setImmediate(value, options)
    },
    setInterval: (delayMs: number, value: unknown, options?: WaitOptions) => {
      const source = ambientSource()
      return source ? ticks(source.clock, delayMs, value, options) : real.setInterval(delayMs, value, options)
    },
  }
}

/** `AbortSignal.timeout` on the clock of the code under test. */
export function virtualAbortTimeout(real: (delayMs: number) => AbortSignal): (delayMs: number) => AbortSignal {
  return (delayMs) => {
    const source = ambientSource()
    if (source === undefined) return real(delayMs)
    const controller = new AbortController()
    const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    source.clock.schedule(delayMs, () => controller.abort(reason()))
    return controller.signal
  }
}
