/** Waits for what a cluster does in its own time. */
import { setTimeout as delay } from 'node:timers/promises'

const DEADLINE_MS = 15_000
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 200

/** Asks again until `check` holds; the first question comes at once. Fails by name when it never does. */
export async function eventually(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS
  for (let pauseMs = FIRST_PAUSE_MS; !(await check()); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (Date.now() > deadline) throw new Error(`did not happen within ${DEADLINE_MS} ms: ${what}`)
    await delay(pauseMs)
  }
}
