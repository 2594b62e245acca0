/** Whether time and memory grow with the number of resources, and what concurrency brings. */
import { type Result, withoutPeer } from '../result.ts'
import type { OperatorOn } from './programs.ts'
import { median, spread } from './spread.ts'
import { type BringUp, bringUpRound } from './webapp-round.ts'

const MIB = 1024 ** 2
const ROUNDS = 3
/** More WebApps take minutes, and are measured once. */
const MAX_REPEATED = 1_000

/** How much is measured. */
export interface GrowthOptions {
  /** With 10 at a time. */
  readonly counts: readonly number[]
  /** With the second of the counts. */
  readonly concurrencies: readonly number[]
}

/** Several rounds of each; the smallest number is what the others are compared with. */
export async function growth(
  operator: OperatorOn,
  { counts, concurrencies }: GrowthOptions,
): Promise<readonly Result[]> {
  const results: Result[] = []
  let first: { readonly count: number; readonly rounds: readonly BringUp[] } | undefined
  for (const count of counts) {
    const rounds = await measured(operator, count, `growth: ${count} WebApps`)
    first ??= { count, rounds }
    const idleBytes = medianOf(first.rounds, (round) => round.idleBytes)
    const each = {
      cpuMs: medianOf(rounds, ({ operator: used }) => used.cpuMs) / count,
      apiServerMs: medianOf(rounds, ({ apiServerCpuMs }) => apiServerCpuMs) / count,
      kib: (medianOf(rounds, ({ restBytes }) => restBytes) - idleBytes) / count / 1024,
    }
    results.push({
      name: `growth: ${count} WebApps`,
      figure: describe(rounds),
      beside: `${spread(first.rounds.map(seconds), 1, 's')} for ${first.count}`,
      ratio: medianOf(rounds, seconds) / count / (medianOf(first.rounds, seconds) / first.count),
      note:
        `time of each in relation to that of ${first.count}: 1 is linear; for each ${each.cpuMs.toFixed(1)} ms of the ` +
        `operator, ${each.apiServerMs.toFixed(1)} ms of the API server, ${each.kib.toFixed(1)} KiB of memory`,
    })
  }
  const [, count = counts[0] ?? 0] = counts
  for (const concurrency of concurrencies) {
    const name = `growth: ${count} WebApps, ${concurrency} at a time`
    results.push(withoutPeer(name, describe(await measured((cluster) => operator(cluster, concurrency), count, name))))
  }
  return results
}

async function measured(operator: OperatorOn, count: number, name: string): Promise<readonly BringUp[]> {
  const rounds: BringUp[] = []
  const times = count > MAX_REPEATED ? 1 : ROUNDS
  for (let round = 1; round <= times; round++) {
    console.error(`round ${round} of ${times}: ${name}`)
    rounds.push(await bringUpRound(operator, count))
  }
  return rounds
}

const seconds = ({ readyMs }: BringUp): number => readyMs / 1_000

const medianOf = (rounds: readonly BringUp[], of: (round: BringUp) => number): number => median(rounds.map(of))

function describe(rounds: readonly BringUp[]): string {
  const mebibytes = rounds.map(({ restBytes }) => restBytes / MIB)
  return `${spread(rounds.map(seconds), 1, 's')}, ${spread(mebibytes, 0, 'MiB')}`
}
