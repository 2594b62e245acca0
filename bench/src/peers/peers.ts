/** Our operators, cache and embedded cluster beside their peers, in turns on a real control plane. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Result, withoutPeer } from '../result.ts'
import { CONCURRENCY } from '../webapp-load.ts'
import { admissionBesidePeer } from './admission-peers.ts'
import { dynaKubes } from './dynakubes.ts'
import { reeveDynatrace, referenceDynatrace } from './dynatrace-operators.ts'
import { embeddedRounds } from './embedded-rounds.ts'
import { LoadWatch } from './load-watch.ts'
import { controllerRuntimeOperator, type OperatorOn, reeveOperator } from './programs.ts'
import { median, spread } from './spread.ts'
import { bareRound, type WebAppRound, webAppRound } from './webapp-round.ts'

const MIB = 1024 ** 2
/** Both sides run once in each. */
const ROUNDS = 3
const ADMISSION_ROUND_MS = 3_000
const NO_PEER = 'set DYNATRACE_OPERATOR to a built program of it'

/** The parts, in the order in which they run. */
export type PeerPart = 'peer-webapps' | 'peer-api-servers' | 'peer-dynakubes' | 'peer-admission'

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

/** What is measured beside peers, each part by itself: the next ones run although one fails. */
const PEERS: Readonly<Record<PeerPart, (load: LoadWatch) => Promise<readonly Result[]>>> = {
  'peer-webapps': (load) =>
    inFolder(async (folder) => webApps(await reeveOperator(folder), { count: 1_000, rounds: ROUNDS }, load)),
  'peer-api-servers': () => embeddedRounds(ROUNDS),
  'peer-dynakubes': (load) =>
    inFolder(async (folder) => {
      const ours = await reeveDynatrace(folder)
      const peer = await referenceDynatrace(process.env.DYNATRACE_OPERATOR)
      return dynaKubes({ ours, peer, counts: [1, 20, 50], rounds: ROUNDS }, load)
    }),
  'peer-admission': () =>
    inFolder(async (folder) => {
      const peer = await referenceDynatrace(process.env.DYNATRACE_OPERATOR)
      if (peer === undefined) return [withoutPeer('admission beside Dynatrace Operator 1.8.1', 'not measured', NO_PEER)]
      return admissionBesidePeer(await reeveDynatrace(folder), peer, ADMISSION_ROUND_MS)
    }),
}

/** Runs a part, and says how busy the machine was. */
export async function besidePeers(part: PeerPart): Promise<readonly Result[]> {
  const load = new LoadWatch()
  load.note()
  const results = await PEERS[part](load)
  return [...results, load.result()]
}

async function inFolder<R>(work: (folder: string) => Promise<R>): Promise<R> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-peers-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** WebApps brought up by our operator and by one of controller-runtime, in turns. */
async function webApps(
  ours: OperatorOn,
  { count, rounds }: { readonly count: number; readonly rounds: number },
  load: LoadWatch,
): Promise<readonly Result[]> {
  const peer = await controllerRuntimeOperator()
  const results: { ours: WebAppRound[]; peer: WebAppRound[] } = { ours: [], peer: [] }
  const bareMs: number[] = []
  for (let round = 1; round <= rounds; round++) {
    load.note()
    console.error(`round ${round} of ${rounds}: controller-runtime`)
    results.peer.push(await webAppRound(peer, count))
    console.error(`round ${round} of ${rounds}: Reeve`)
    const own = await webAppRound(ours, count)
    results.ours.push(own)
    console.error(`round ${round} of ${rounds}: bare writes`)
    bareMs.push(await bareRound(count, own.status))
  }
  load.note()
  return [...FIGURES.map((figure) => compared(figure, results, count)), rawLimit(results.ours, bareMs, count)]
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

function rawLimit(ours: readonly WebAppRound[], bareMs: readonly number[], count: number): Result {
  const ready = ours.map(({ readyMs }) => readyMs / 1_000)
  const bare = bareMs.map((each) => each / 1_000)
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
