/** Runs parts of one process that live and end together. */

/**
 * Runs all of `parts` until `signal` aborts. When one ends or fails, the others are stopped, too: a process with half of
 * its parts appears healthy but is not.
 *
 * *Errors*: that of the first part that failed.
 *
 * @example
 * await runTogether([(signal) => serve(signal), (signal) => metrics.run(signal)], signal)
 */
export async function runTogether(
  parts: readonly ((signal: AbortSignal) => Promise<void>)[],
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const ended = await Promise.allSettled(parts.map((run) => run(either).finally(() => stop.abort())))
  const failed = ended.find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
}
