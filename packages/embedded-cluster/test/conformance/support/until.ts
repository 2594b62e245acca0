/** Waits for what a cluster does in its own time. */
import { setTimeout as delay } from 'node:timers/promises'

const DEADLINE_MS = 100_000
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250

/** Asks again until `probe` has an answer, and returns it. Fails by name when it never has. */
export async function until<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const answer = await probe()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > deadline) throw new Error(`did not happen within ${DEADLINE_MS} ms: ${what}`)
    await delay(pauseMs)
  }
}
