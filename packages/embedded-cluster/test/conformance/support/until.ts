/** Waits for asynchronous changes of a cluster. */
import { setTimeout as delay } from 'node:timers/promises'

const DEADLINE_MS = 100_000
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250

/** Polls until `probe` returns a value, and returns it. Fails with `what` after the deadline. */
export async function until<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const response = await probe()
    if (response !== undefined && response !== false) return response
    if (Date.now() > deadline) throw new Error(`did not happen within ${DEADLINE_MS} ms: ${what}`)
    await delay(pauseMs)
  }
}
