/** When to look again, given several reasons to. */
import type { RequeueAfterMs } from './control-loop.ts'

/** The shortest of the delays; nothing if none of them is known. */
export function earliest(delaysMs: readonly RequeueAfterMs[]): RequeueAfterMs {
  const known = delaysMs.filter((delayMs) => delayMs !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
