/** WebApps brought up by our operator and by one of controller-runtime, in turns on a real control plane. */
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Result } from '../result.ts'
import { CONCURRENCY } from '../webapp-load.ts'
import { controllerRuntimeOperator, reeveOperator } from './programs.ts'
import { type WebAppRound, webAppRound } from './webapp-round.ts'

const MIB = 1024 ** 2

/** How much is measured. */
export interface PeersOptions {
  readonly count: number
  /** Both sides run once in each. */
  readonly rounds: number
}

interface Figure {
  readonly name: string
  readonly unit: string
  readonly digits: number
  of(round: WebAppRound): number
  readonly note: string
}

const FIGURES: readonly Figure[] = [
  {
    name: 'to all statuses written',
    unit: 's',
    digits: 1,
    of: ({ readyMs }) => readyMs / 1_000,
    note: 'target: 0.8 or less',
  },
  { name: 'requests until then', unit: '', digits: 0, of: ({ requests }) => total(requests), note: 'all but watches' },
  {
    name: 'CPU of the operator',
    unit: 's',
    digits: 1,
    of: ({ operator }) => operator.cpuMs / 1_000,
    note: 'target: 1.2 or less',
  },
  { name: 'CPU of the API server', unit: 's', digits: 1, of: ({ apiServerCpuMs }) => apiServerCpuMs / 1_000, note: '' },
  {
    name: 'resident memory, idle',
    unit: 'MiB',
    digits: 0,
    of: ({ idleBytes }) => idleBytes / MIB,
    note: 'target: 70 MiB',
  },
  {
    name: 'resident memory, everything written',
    unit: 'MiB',
    digits: 0,
    of: ({ restBytes }) => restBytes / MIB,
    note: 'target: 110 MiB',
  },
  { name: 'resident memory, peak', unit: 'MiB', digits: 0, of: ({ peakBytes }) => peakBytes / MIB, note: '' },
  {
    name: 'restart, everything in place',
    unit: 's',
    digits: 2,
    of: ({ restartMs }) => restartMs / 1_000,
    note: 'target: 1.0 or less',
  },
  { name: 'writes after a restart', unit: '', digits: 0, of: ({ restartWrites }) => restartWrites, note: 'target: 0' },
]

/** Runs the rounds; builds the peer first. */
export async function peers({ count, rounds }: PeersOptions): Promise<readonly Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-peers-'))
  try {
    const peer = await controllerRuntimeOperator()
    const ours = await reeveOperator(folder)
    const results: { ours: WebAppRound[]; peer: WebAppRound[] } = { ours: [], peer: [] }
    let busiest = 0
    for (let round = 1; round <= rounds; round++) {
      busiest = Math.max(busiest, loadavg()[0] ?? 0)
      console.error(`round ${round} of ${rounds}: controller-runtime`)
      results.peer.push(await webAppRound(peer, count))
      console.error(`round ${round} of ${rounds}: Reeve`)
      results.ours.push(await webAppRound(ours, count))
    }
    // Our own rounds raise the load by about the number of cores.
    if (busiest > 2 * availableParallelism()) {
      console.error(`the machine was busy (load ${busiest.toFixed(1)}): repeat this on an idle one`)
    }
    return [...FIGURES.map((figure) => compared(figure, results, count)), rawLimit(results.ours, count)]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function compared(
  { name, unit, digits, of, note }: Figure,
  rounds: { readonly ours: readonly WebAppRound[]; readonly peer: readonly WebAppRound[] },
  count: number,
): Result {
  const ours = rounds.ours.map(of)
  const peer = rounds.peer.map(of)
  return {
    name: `${count} WebApps: ${name}`,
    figure: spread(ours, digits, unit),
    beside: `${spread(peer, digits, unit)} controller-runtime`,
    ratio: median(peer) === 0 ? Number.NaN : median(ours) / median(peer),
    note: ['lower is better', note].filter((part) => part !== '').join('; '),
  }
}

function rawLimit(ours: readonly WebAppRound[], count: number): Result {
  const ready = ours.map(({ readyMs }) => readyMs / 1_000)
  const bare = ours.map(({ bareMs }) => bareMs / 1_000)
  return {
    name: `${count} WebApps: share of the raw limit`,
    figure: spread(ready, 1, 's'),
    beside: `${spread(bare, 1, 's')} for ${3 * count} bare writes, ${CONCURRENCY} at a time`,
    ratio: median(bare) / median(ready),
    note: 'target: 0.9 or more',
  }
}

function spread(values: readonly number[], digits: number, unit: string): string {
  const text = (value: number) => value.toFixed(digits)
  const [low, high] = [text(Math.min(...values)), text(Math.max(...values))]
  return `${low === high ? low : `${low}–${high}`} ${unit}`.trimEnd()
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const total = (requests: WebAppRound['requests']): number =>
  Object.values(requests).reduce((sum, value) => sum + value, 0)
