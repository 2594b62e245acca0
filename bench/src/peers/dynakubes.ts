/** Full DynaKubes brought up by our operator and by the one that it replaces: time to the last workload, and memory. */
import { setTimeout as pause } from 'node:timers/promises'
import { DynaKubes } from '@reeve/dynatrace'
import { DaemonSets, Deployments, StatefulSets } from '@reeve/kube'
import { type DynatraceStage, fullDynaKube, NAMESPACE, startDynatraceStage } from '../dynatrace-stage.ts'
import type { Result } from '../result.ts'
import type { DynatraceOperator } from './dynatrace-operators.ts'
import type { LoadWatch } from './load-watch.ts'
import { type OperatorProcess, startOperator } from './operator-process.ts'
import { median, spread } from './spread.ts'

const MIB = 1024 ** 2
/** Of a full DynaKube: OneAgent, ActiveGate, extensions, database executor, OpenTelemetry collector, configuration collector. */
const WORKLOADS_EACH = 6
const POLL_MS = 50
/** After this long an operator has started, and rests again after work. */
const REST_MS = 5_000
const DEADLINE_MS = 600_000
/** How long two keys take is a matter of luck, which only many rounds even out. */
const ROUNDS_OF_ONE = 3

/** Who is compared, and how much. */
export interface DynaKubeLoad {
  readonly ours: DynatraceOperator
  readonly peer: DynatraceOperator | undefined
  /** How many DynaKubes are created at once. */
  readonly counts: readonly number[]
  readonly rounds: number
}

/** Measures both in turns, with some numbers of DynaKubes. */
export async function dynaKubes(
  { ours, peer, counts, rounds }: DynaKubeLoad,
  load: LoadWatch,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const count of counts) {
    const measured: { ours: Round[]; peer: Round[] } = { ours: [], peer: [] }
    const times = count === 1 ? ROUNDS_OF_ONE * rounds : rounds
    for (let round = 1; round <= times; round++) {
      load.note()
      console.error(`round ${round} of ${times}: ${count} DynaKubes`)
      if (peer !== undefined) measured.peer.push(await play(peer, count))
      measured.ours.push(await play(ours, count))
    }
    const compared = (name: string, of: (round: Round) => number, digits: number, unit: string, note: string) => {
      const [own, other] = [measured.ours.map(of), measured.peer.map(of)]
      return {
        name: `${count} full DynaKubes: ${name}`,
        figure: spread(own, digits, unit),
        beside: peer === undefined ? '' : `${spread(other, digits, unit)} ${peer.name}`,
        ratio: peer === undefined ? Number.NaN : median(own) / median(other),
        note: `lower is better; ${note}`,
      }
    }
    results.push(
      compared('applied → last workload', ({ readyMs }) => readyMs / 1_000, 1, 's', 'target: 0.5 or less'),
      compared('CPU of the operator until then', ({ cpuMs }) => cpuMs / 1_000, 1, 's', 'RSA keys included'),
      compared('resident memory, peak', ({ peakBytes }) => peakBytes / MIB, 0, 'MiB', '20: target 140 MiB'),
    )
  }
  return results
}

interface Round {
  readonly readyMs: number
  readonly cpuMs: number
  readonly peakBytes: number
}

async function play(operator: DynatraceOperator, count: number): Promise<Round> {
  const ids = Array.from({ length: count }, (_, index) => `t${String(index).padStart(3, '0')}`)
  await using stage = await startDynatraceStage('real', ids)
  await operator.prepare(stage)
  await using running = await startOperator(operator.command(stage))
  await pause(REST_MS)
  const before = await running.usage()
  const startedAt = performance.now()
  for (const [index, tenant] of stage.tenants.entries()) {
    const key = { namespace: NAMESPACE, name: `kube-${index}` }
    await stage.client.create(DynaKubes, fullDynaKube(tenant, key, count === 1))
  }
  await untilWorkloads(stage, running, WORKLOADS_EACH * count)
  const readyMs = performance.now() - startedAt
  const { cpuMs } = await running.usage()
  await pause(REST_MS)
  const { peakBytes } = await running.usage()
  return { readyMs, cpuMs: cpuMs - before.cpuMs, peakBytes }
}

async function untilWorkloads({ client }: DynatraceStage, running: OperatorProcess, wanted: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  let found = 0
  while (performance.now() < deadline) {
    const scope = { namespace: NAMESPACE, metadataOnly: true }
    const lists = await Promise.all([
      client.listAll(DaemonSets, scope),
      client.listAll(StatefulSets, scope),
      client.listAll(Deployments, scope),
    ])
    const names = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name))
    found = names.filter((name) => name.startsWith('kube-')).length
    if (found >= wanted) return
    await running.usage() // fails when the operator has ended
    await pause(POLL_MS)
  }
  throw new Error(`${found} of ${wanted} workloads exist after ${DEADLINE_MS / 1_000} s`)
}
