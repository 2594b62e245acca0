/** Full DynaKubes brought up by the Dynatrace operator as it ships: time to the last workload, and memory. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DynaKubes } from '@reeve/dynatrace'
import { DaemonSets, Deployments, StatefulSets } from '@reeve/kube'
import { type DynatraceStage, fullDynaKube, NAMESPACE, startDynatraceStage } from '../dynatrace-stage.ts'
import { type Result, withoutPeer } from '../result.ts'
import { type OperatorCommand, startOperator } from './operator-process.ts'
import { spread } from './spread.ts'

const DYNATRACE = fileURLToPath(new URL('../../../operators/dynatrace', import.meta.url))
const MIB = 1024 ** 2
/** As in the chart: the limit of the container, and 60 % of it for old objects. */
const MEMORY_LIMIT_BYTES = 320 * MIB
const NODE_OPTIONS = '--max-old-space-size=192'
const POLL_MS = 100
/** Everything is written when no workload was added for this long. */
const QUIET_MS = 5_000
const DEADLINE_MS = 600_000

/** Bundles the operator into a folder and measures it with some numbers of DynaKubes at once. */
export async function dynaKubeMemory(
  folder: string,
  counts: readonly number[],
  rounds: number,
): Promise<readonly Result[]> {
  const outdir = join(folder, 'dynatrace')
  await promisify(execFile)('npm', ['run', 'bundle'], { cwd: DYNATRACE, env: { ...process.env, OUTDIR: outdir } })
  const results: Result[] = []
  for (const count of counts) {
    const measured: Round[] = []
    for (let round = 1; round <= rounds; round++) {
      console.error(`round ${round} of ${rounds}: ${count} DynaKubes`)
      measured.push(await play(join(outdir, 'dynatrace-operator.js'), count))
    }
    const figure = (of: (round: Round) => number, digits: number, unit: string) =>
      spread(measured.map(of), digits, unit)
    results.push(
      withoutPeer(
        `${count} full DynaKubes at once`,
        `${figure(({ readyMs }) => readyMs / 1_000, 1, 's')} to the last workload`,
        `${measured[0]?.workloads} workloads; RSA keys of 4096 bits are generated`,
      ),
      withoutPeer(
        `${count} full DynaKubes at once: resident memory`,
        figure(({ restBytes }) => restBytes / MIB, 0, 'MiB'),
        `peak ${figure(({ peakBytes }) => peakBytes / MIB, 0, 'MiB')}${count === 20 ? '; target: 140 MiB' : ''}`,
      ),
    )
  }
  return results
}

interface Round {
  readonly readyMs: number
  readonly workloads: number
  readonly restBytes: number
  readonly peakBytes: number
}

async function play(program: string, count: number): Promise<Round> {
  const ids = Array.from({ length: count }, (_, index) => `t${String(index).padStart(3, '0')}`)
  await using stage = await startDynatraceStage('real', ids)
  for (const [index, tenant] of stage.tenants.entries()) {
    const key = { namespace: NAMESPACE, name: `kube-${index}` }
    await stage.client.create(DynaKubes, fullDynaKube(tenant, key, count === 1))
  }
  const startedAt = performance.now()
  await using running = await startOperator(commandFor(program, stage))
  const { workloads, lastAt } = await untilQuiet(stage)
  const { residentBytes: restBytes, peakBytes } = await running.usage()
  return { readyMs: lastAt - startedAt, workloads, restBytes, peakBytes }
}

function commandFor(program: string, { cluster }: DynatraceStage): OperatorCommand {
  return {
    command: process.execPath,
    args: () => [program, 'operator'],
    env: {
      NODE_OPTIONS,
      KUBECONFIG: cluster.kubeconfigPath,
      POD_NAMESPACE: NAMESPACE,
      RUN_LOCAL: 'true',
      METRICS_BIND_ADDRESS: '127.0.0.1:0',
      HEALTH_PROBE_BIND_ADDRESS: '127.0.0.1:0',
      DT_OPERATOR_IMAGE: 'registry.example.com/operator:1.0.0',
    },
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
    reconciles: /^controller_runtime_reconcile_total\{/,
  }
}

async function untilQuiet({
  client,
}: DynatraceStage): Promise<{ readonly workloads: number; readonly lastAt: number }> {
  const deadline = performance.now() + DEADLINE_MS
  let workloads = 0
  let lastAt = performance.now()
  while (performance.now() < deadline) {
    const scope = { namespace: NAMESPACE, metadataOnly: true }
    const lists = await Promise.all([
      client.listAll(DaemonSets, scope),
      client.listAll(StatefulSets, scope),
      client.listAll(Deployments, scope),
    ])
    const found = lists.reduce((sum, { items }) => sum + items.length, 0)
    const now = performance.now()
    if (found !== workloads) {
      workloads = found
      lastAt = now
    } else if (found > 0 && now - lastAt > QUIET_MS) {
      return { workloads, lastAt }
    }
    await pause(POLL_MS)
  }
  throw new Error(`the operator still adds workloads after ${DEADLINE_MS / 1_000} s: ${workloads} so far`)
}
