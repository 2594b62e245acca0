/** How tests wait for a look of the operator that knows what they have just done. */
import { type Clock, sleep } from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'

/** Where looks are recorded, and the clock that tells when they began. */
export interface Looks {
  readonly records: readonly ReconcileRecord[]
  readonly clock: Clock
  until(what: string, condition: () => boolean): Promise<void>
}

/**
 * Causes a look and waits for one that began after this call. A look that was under way is not taken for it: it knows
 * nothing of what the test did before.
 */
export async function reconcileAfter(
  { records, clock, until }: Looks,
  what: string,
  isMeant: (record: ReconcileRecord) => boolean,
  cause: () => Promise<unknown>,
): Promise<ReconcileRecord> {
  const before = records.length
  // Beginnings are told in whole milliseconds: one of this very millisecond may lie before the call.
  const sinceMs = clock.now() + 1
  while (clock.now() < sinceMs) await sleep(1)
  await cause()
  const found = () => records.slice(before).find((record) => record.startedMs >= sinceMs && isMeant(record))
  await until(`a look at ${what}`, () => found() !== undefined)
  const record = found()
  if (record === undefined) throw new Error(`the record of ${what} is gone`)
  return record
}
