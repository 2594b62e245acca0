/** Waits for what a cluster does in its own time. */
import { sleep } from '@reeve/http'

/** Longer than a loaded machine needs. */
export const PATIENCE_MS = 120_000

/** Polls until the condition holds; fails with what it waited for. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(PATIENCE_MS)
  while (!(await condition())) {
    if (deadline.aborted) throw new Error(`timed out waiting for ${what}`)
    await sleep(50)
  }
}
