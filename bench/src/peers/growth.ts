/** Whether time and memory grow with the number of resources, and what concurrency brings. */
import { type Result, withoutPeer } from '../result.ts'
import type { OperatorOn } from './programs.ts'
import { type BringUp, bringUpRound } from './webapp-round.ts'

const MIB = 1024 ** 2

/** How much is measured. */
export interface GrowthOptions {
  /** With 10 at a time. */
  readonly counts: readonly number[]
  /** With the second of the counts. */
  readonly concurrencies: readonly number[]
}

/** One round of each; the smallest of each is what the others are compared with. */
export async function growth(
  operator: OperatorOn,
  { counts, concurrencies }: GrowthOptions,
): Promise<readonly Result[]> {
  const results: Result[] = []
  let first: { readonly count: number; readonly round: BringUp } | undefined
  for (const count of counts) {
    console.error(`growth: ${count} WebApps`)
    const round = await bringUpRound(operator, count)
    first ??= { count, round }
    const each = {
      cpuMs: round.operator.cpuMs / count,
      apiServerMs: round.apiServerCpuMs / count,
      kib: (round.restBytes - first.round.idleBytes) / count / 1024,
    }
    results.push({
      name: `growth: ${count} WebApps`,
      figure: `${(round.readyMs / 1_000).toFixed(1)} s, ${(round.restBytes / MIB).toFixed(0)} MiB`,
      beside: `${(first.round.readyMs / 1_000).toFixed(1)} s for ${first.count}`,
      ratio: round.readyMs / count / (first.round.readyMs / first.count),
      note:
        `time of each in relation to that of ${first.count}: 1 is linear; for each ${each.cpuMs.toFixed(1)} ms of the ` +
        `operator, ${each.apiServerMs.toFixed(1)} ms of the API server, ${each.kib.toFixed(1)} KiB of memory`,
    })
  }
  const [, count = counts[0] ?? 0] = counts
  for (const concurrency of concurrencies) {
    console.error(`growth: ${count} WebApps, ${concurrency} at a time`)
    const { readyMs, restBytes } = await bringUpRound((cluster) => operator(cluster, concurrency), count)
    results.push(
      withoutPeer(
        `growth: ${count} WebApps, ${concurrency} at a time`,
        `${(readyMs / 1_000).toFixed(1)} s, ${(restBytes / MIB).toFixed(0)} MiB`,
      ),
    )
  }
  return results
}
