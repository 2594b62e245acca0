/** Waits for a reconcile that sees what a test has just done. */
import { type Clock, sleep } from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'

/** The records of reconciles, and the clock of their start times. */
export interface Looks {
  readonly records: readonly ReconcileRecord[]
  readonly clock: Clock
  until(what: string, condition: () => boolean): Promise<void>
}

/**
 * Causes a reconcile and waits for one that began after this call. One that was in progress does not count: it knows
 * nothing of what the test did before.
 */
export async function reconcileAfter(
  { records, clock, until }: Looks,
  what: string,
  isMeant: (record: ReconcileRecord) => boolean,
  cause: () => Promise<unknown>,
): Promise<ReconcileRecord> {
  const before = records.length
  // Start times are whole milliseconds: one of this millisecond may be before the call.
  const sinceMs = clock.now() + 1
  while (clock.now() < sinceMs) await sleep(1)
  await cause()
  const found = () => records.slice(before).find((record) => record.startedMs >= sinceMs && isMeant(record))
  await until(`a reconcile of ${what}`, () => found() !== undefined)
  const record = found()
  if (record === undefined) throw new Error(`the record of ${what} is missing`)
  return record
}
