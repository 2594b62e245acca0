/**
 * The WebApp operator alone on a core, and its peer in turns: what a change costs and how soon it is applied, while API server, etcd
 * and benchmark share another core. Times of both together say more about the API server than about the operator.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Result } from '../result.ts'
import { type AloneLoad, type AloneRound, aloneRound, type Phase } from './alone-round.ts'
import { divideCores } from './cores.ts'
import { LoadWatch } from './load-watch.ts'
import { controllerRuntimeOperator, type OperatorOn, reeveOperator } from './programs.ts'
import { median, spread } from './spread.ts'

const MIB = 1024 ** 2
const STREAM = { perSecond: 100, seconds: 120 } as const

/** How much is measured. */
const FULL: Plan = {
  rounds: 3,
  loads: [
    { count: 1_000, stream: STREAM, restMs: 30_000 },
    { count: 10_000, restMs: 30_000 },
  ],
}

/** To see in two minutes that everything works. */
const QUICK: Plan = { rounds: 1, loads: [{ count: 100, stream: { perSecond: 20, seconds: 10 }, restMs: 5_000 }] }

interface Plan {
  readonly rounds: number
  readonly loads: readonly AloneLoad[]
}

/** Options of {@link operatorAlone}. */
export interface OperatorAloneOptions {
  readonly isQuick: boolean
  /** The folder of a clone of this repository at another commit, with its packages installed, measured in the same turns. */
  readonly baseline: string | undefined
}

/** A program that takes part, with its rounds. */
interface Side {
  readonly name: string
  readonly operator: OperatorOn
}

interface Figure {
  readonly name: string
  readonly unit: string
  readonly digits: number
  of(round: AloneRound): number
  readonly note?: string
}

/** Runs all sides in turns. The first is ours, and what the others are compared with. */
export async function operatorAlone({ isQuick, baseline }: OperatorAloneOptions): Promise<readonly Result[]> {
  const { rounds, loads } = isQuick ? QUICK : FULL
  const folder = await mkdtemp(join(tmpdir(), 'reeve-operators-'))
  try {
    const ours = { name: 'Reeve', operator: await reeveOperator(join(folder, 'ours')) }
    const others = [{ name: 'controller-runtime', operator: await controllerRuntimeOperator() }]
    if (baseline !== undefined) {
      others.unshift({ name: 'baseline', operator: await reeveOperator(join(folder, 'baseline'), resolve(baseline)) })
    }
    using cores = divideCores()
    const load = new LoadWatch()
    const results: Result[] = []
    for (const each of loads) {
      const measured = await inTurns([ours, ...others], each, rounds, cores.operator, load)
      const own = measured.get(ours.name) ?? []
      for (const figure of figures(each)) {
        for (const { name } of others) results.push(compared(figure, own, measured.get(name) ?? [], name))
      }
    }
    return [...results, load.result()]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function inTurns(sides: readonly Side[], load: AloneLoad, rounds: number, core: string, watch: LoadWatch) {
  const measured = new Map<string, AloneRound[]>(sides.map(({ name }) => [name, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const { name, operator } of sides) {
      watch.note()
      const startedAt = performance.now()
      console.error(`round ${round} of ${rounds}, ${load.count} WebApps: ${name} …`)
      measured.get(name)?.push(await aloneRound(operator, load, core))
      console.error(`  took ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)
    }
  }
  return measured
}

function figures({ count, stream, restMs }: AloneLoad): readonly Figure[] {
  const burst = phase(`${count} at once`, ({ burst }) => burst)
  const streamed =
    stream === undefined
      ? []
      : phase(`${stream.perSecond} changes/s for ${stream.seconds} s`, (round) => round.stream ?? round.burst)
  const memory = (name: string, of: (round: AloneRound) => number): Figure => ({
    name: `${count} WebApps: anonymous memory, ${name}`,
    unit: 'MiB',
    digits: 1,
    of: (round) => of(round) / MIB,
  })
  return [
    ...burst,
    ...streamed,
    {
      name: `${count} WebApps: CPU time at rest`,
      unit: 'ms/s',
      digits: 1,
      of: ({ restCpuMs }) => restCpuMs,
      note: `over ${restMs / 1_000} s; both reconcile everything every 30 s`,
    },
    memory('idle, no WebApps yet', ({ idleBytes }) => idleBytes),
    memory('peak', ({ peakBytes }) => peakBytes),
    memory('settled', ({ settledBytes }) => settledBytes),
    {
      name: `${count} WebApps: restart until all are reconciled`,
      unit: 's',
      digits: 2,
      of: ({ restartMs }) => restartMs / 1_000,
    },
    {
      name: `${count} WebApps: writes at rest and after a restart`,
      unit: '',
      digits: 0,
      of: ({ needlessWrites }) => needlessWrites,
      note: 'target: 0',
    },
  ]
}

function phase(name: string, of: (round: AloneRound) => Phase): readonly Figure[] {
  const figure = (what: string, unit: string, digits: number, value: (phase: Phase) => number): Figure => ({
    name: `${name}: ${what}`,
    unit,
    digits,
    of: (round) => value(of(round)),
  })
  return [
    figure('CPU time for each change', 'ms', 2, ({ cpuMs, changes }) => cpuMs / changes),
    figure('CPU time for each reconcile', 'ms', 2, ({ cpuMs, reconciles }) => cpuMs / reconciles),
    figure('reconciles for each change', '', 2, ({ reconciles, changes }) => reconciles / changes),
    figure('writes for each change', '', 2, ({ writes, changes }) => writes / changes),
    figure('change accepted → write arrives, p50', 'ms', 1, ({ p50Ms }) => p50Ms),
    figure('change accepted → write arrives, p99', 'ms', 1, ({ p99Ms }) => p99Ms),
  ]
}

function compared(
  { name, unit, digits, of, note }: Figure,
  own: readonly AloneRound[],
  other: readonly AloneRound[],
  otherName: string,
): Result {
  const [figures, besides] = [own.map(of), other.map(of)]
  return {
    name,
    figure: spread(figures, digits, unit),
    beside: `${spread(besides, digits, unit)} ${otherName}`,
    ratio: median(besides) === 0 ? Number.NaN : median(figures) / median(besides),
    note: ['lower is better', note].filter((part) => part !== undefined).join('; '),
  }
}
