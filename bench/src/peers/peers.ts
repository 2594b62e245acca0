/** Our operators, cache and embedded cluster beside their peers, in turns on a real control plane. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheMemory } from '../cache-memory.ts'
import type { Result } from '../result.ts'
import { CONCURRENCY } from '../webapp-load.ts'
import { dynaKubes } from './dynakubes.ts'
import { reeveDynatrace, referenceDynatrace } from './dynatrace-operators.ts'
import { embeddedRounds } from './embedded-rounds.ts'
import { type GrowthOptions, growth } from './growth.ts'
import { LoadWatch } from './load-watch.ts'
import { controllerRuntimeOperator, type OperatorOn, reeveOperator } from './programs.ts'
import { median, spread } from './spread.ts'
import { type WebAppRound, webAppRound } from './webapp-round.ts'

const MIB = 1024 ** 2
const CACHED_PODS = 10_000

/** How much is measured. */
export interface PeersOptions {
  readonly count: number
  /** Both sides run once in each. */
  readonly rounds: number
  /** How many DynaKubes are created at once. */
  readonly dynaKubes: readonly number[]
  readonly growth: GrowthOptions
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

/** Runs all parts; builds the peer first. */
export async function peers(options: PeersOptions): Promise<readonly Result[]> {
  const { rounds, dynaKubes: counts, growth: sizes } = options
  const folder = await mkdtemp(join(tmpdir(), 'reeve-peers-'))
  const load = new LoadWatch()
  try {
    const ours = await reeveOperator(join(folder, 'webapp'))
    const results = [...(await webApps(ours, options, load))]
    results.push(...(await embeddedRounds(rounds)), ...(await cacheMemory(CACHED_PODS)))
    load.note()
    const dynatrace = await reeveDynatrace(join(folder, 'dynatrace'))
    const peer = await referenceDynatrace(process.env.DYNATRACE_OPERATOR)
    results.push(...(await dynaKubes({ ours: dynatrace, peer, counts, rounds })))
    load.note()
    return [...results, ...(await growth(ours, sizes)), load.result()]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** WebApps brought up by our operator and by one of controller-runtime, in turns. */
export async function webApps(
  ours: OperatorOn,
  { count, rounds }: Pick<PeersOptions, 'count' | 'rounds'>,
  load: LoadWatch,
): Promise<readonly Result[]> {
  const peer = await controllerRuntimeOperator()
  const results: { ours: WebAppRound[]; peer: WebAppRound[] } = { ours: [], peer: [] }
  for (let round = 1; round <= rounds; round++) {
    load.note()
    console.error(`round ${round} of ${rounds}: controller-runtime`)
    results.peer.push(await webAppRound(peer, count))
    console.error(`round ${round} of ${rounds}: Reeve`)
    results.ours.push(await webAppRound(ours, count))
  }
  load.note()
  return [...FIGURES.map((figure) => compared(figure, results, count)), rawLimit(results.ours, count)]
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

const total = (requests: WebAppRound['requests']): number =>
  Object.values(requests).reduce((sum, value) => sum + value, 0)
