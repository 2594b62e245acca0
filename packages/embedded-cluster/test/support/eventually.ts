/** Waits for asynchronous changes of a cluster. */
import { setTimeout as delay } from 'node:timers/promises'

const DEADLINE_MS = 15_000
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 200

/** Polls until `check` returns true, starting immediately. Fails with `what` after the deadline. */
export async function eventually(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS
  for (let pauseMs = FIRST_PAUSE_MS; !(await check()); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (Date.now() > deadline) throw new Error(`did not happen within ${DEADLINE_MS} ms: ${what}`)
    await delay(pauseMs)
  }
}
