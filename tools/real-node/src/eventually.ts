/** Waits until something is true. */
import { setTimeout as sleep } from 'node:timers/promises'
import { POLL_INTERVAL_MS } from './defaults.ts'
import { ComponentExitedError, TimeoutError } from './errors.ts'

export interface EventuallyOptions {
  /** @default 300_000 */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * Calls `check` until it returns a value that is neither `undefined` nor `false`, and returns that. A call that throws
 * counts as `false`, unless it throws `ComponentExitedError`: without a component nothing will change.
 *
 * *Errors*: `TimeoutError` with the last error or value, `ComponentExitedError`.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 300_000, signal }: EventuallyOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    let last = 'nothing'
    try {
      const value = await check()
      if (value !== undefined && value !== false) return value
      last = String(value)
    } catch (error) {
      if (error instanceof ComponentExitedError) throw error
      last = error instanceof Error ? error.message : String(error)
    }
    if (Date.now() > deadline) throw new TimeoutError(what, timeoutMs, last)
    await sleep(POLL_INTERVAL_MS, undefined, { signal })
  }
}
