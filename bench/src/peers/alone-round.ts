/** One round of an operator on a core of its own: a burst of new WebApps, a steady stream of changes, rest, a restart. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Deployments, type KubeClient } from '@reeve/kube'
import { renderKubeconfig } from '@reeve/real-cluster'
import { WebApps } from '@reeve/webapp'
import { createWebApps, webAppName } from '../webapp-load.ts'
import { AuditLog, OPERATOR_USER } from './audit-log.ts'
import { type OperatorCommand, type OperatorProcess, startOperator } from './operator-process.ts'
import type { OperatorOn } from './programs.ts'
import { NAMESPACE, onControlPlane } from './webapp-cluster.ts'

/** How much one round asks for. */
export interface AloneLoad {
  /** WebApps that are created at once, ten requests at a time. */
  readonly count: number
  /** Changes of these afterwards. @default none */
  readonly stream?: { readonly perSecond: number; readonly seconds: number }
  /** WebApps are reconciled every 30 s even when nothing happens: that long, each of them once. */
  readonly restMs: number
}

/** What a number of changes took. */
export interface Phase {
  readonly changes: number
  readonly cpuMs: number
  readonly reconciles: number
  readonly writes: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** What one operator did in one round. */
export interface AloneRound {
  readonly burst: Phase
  readonly stream: Phase | undefined
  /** CPU time for each second in which nothing changes. */
  readonly restCpuMs: number
  /** Anonymous memory without WebApps, the most of it, and at rest after all changes. */
  readonly idleBytes: number
  readonly peakBytes: number
  readonly settledBytes: number
  /** From the start of the process until every WebApp was reconciled, with nothing to do. */
  readonly restartMs: number
  /** Writes at rest and after the restart. */
  readonly needlessWrites: number
}

/** After this long without a write everything has been written. */
const QUIET_MS = 3_000
/** After this long a process that has started is idle. */
const IDLE_MS = 5_000
/** Of the planned rate, an API server that is busy with nothing else reaches at least this share. */
const MIN_RATE = 0.95
/** Changes that the API server may have in progress before the stream waits for it. */
const MAX_IN_PROGRESS = 50

/** Measures an operator on a control plane of its own; fails unless everything has converged. */
export async function aloneRound(operator: OperatorOn, load: AloneLoad, core: string): Promise<AloneRound> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-alone-'))
  try {
    const { log, flags } = await AuditLog.prepare(folder)
    return await onControlPlane(async (client, cluster, signal) => {
      const identity = await cluster.issueClientCertificate({ user: OPERATOR_USER, groups: ['system:masters'] })
      const kubeconfigPath = join(folder, 'kubeconfig')
      await writeFile(kubeconfigPath, renderKubeconfig({ server: cluster.server, ca: cluster.ca, ...identity }))
      return playRound({ client, log, command: operator({ kubeconfigPath }), core, signal }, load)
    }, flags)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What takes part in a round. */
interface Stage {
  readonly client: KubeClient
  readonly log: AuditLog
  readonly command: OperatorCommand
  readonly core: string
  readonly signal: AbortSignal
}

async function playRound(stage: Stage, { count, stream, restMs }: AloneLoad): Promise<AloneRound> {
  const { client, log, signal } = stage
  const changing = await changeEverything()
  const restart = await measureRestart(stage, count)
  return { ...changing, ...restart, needlessWrites: changing.needlessWrites + restart.needlessWrites }

  async function changeEverything() {
    await using running = await startOperator(stage.command, stage)
    await running.untilReconciled(0, signal)
    await pause(IDLE_MS, undefined, { signal })
    const idleBytes = await running.anonymousBytes()
    const burst = await measured(stage, running, async () => {
      await createWebApps(client, NAMESPACE, count)
      return count
    })
    const streamed = stream && (await measured(stage, running, () => changeSteadily(client, count, stream)))
    const [start, { cpuMs: before }] = await Promise.all([log.end(), running.usage()])
    await pause(restMs, undefined, { signal })
    const { cpuMs: after } = await running.usage()
    return {
      burst,
      stream: streamed,
      restCpuMs: (after - before) / (restMs / 1_000),
      idleBytes,
      settledBytes: await running.anonymousBytes(),
      peakBytes: running.peakAnonymousBytes,
      needlessWrites: (await log.since(start)).writes,
    }
  }
}

/** Lets changes happen, waits until they have been applied, and says what that took. */
async function measured(
  { client, log, signal }: Stage,
  running: OperatorProcess,
  change: () => Promise<number>,
): Promise<Phase> {
  const start = await log.end()
  const [{ cpuMs: cpuBefore }, reconcilesBefore] = await Promise.all([running.usage(), running.reconciles(signal)])
  const changes = await change()
  await untilQuiet(log, signal)
  const [{ cpuMs }, reconciles] = await Promise.all([running.usage(), running.reconciles(signal)])
  await requireConverged(client)
  const { latenciesMs, unresolved, writes } = await log.since(start)
  if (unresolved.length > 0 || latenciesMs.length !== changes) {
    throw new Error(`${latenciesMs.length} of ${changes} changes reached a Deployment; not ${unresolved.slice(0, 3)}`)
  }
  return {
    changes,
    cpuMs: cpuMs - cpuBefore,
    reconciles: reconciles - reconcilesBefore,
    writes,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
  }
}

async function untilQuiet(log: AuditLog, signal: AbortSignal): Promise<void> {
  for (let before = -1, end = await log.end(); end !== before; end = await log.end()) {
    before = end
    await pause(QUIET_MS, undefined, { signal })
  }
}

/** Changes one WebApp after the other at a fixed rate, whether or not the operator keeps up. */
async function changeSteadily(
  client: KubeClient,
  count: number,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<number> {
  const total = perSecond * seconds
  const inProgress = new Set<Promise<unknown>>()
  const startedAt = performance.now()
  for (let index = 0; index < total; index++) {
    const early = startedAt + (index * 1_000) / perSecond - performance.now()
    if (early > 0) await pause(early)
    if (inProgress.size >= MAX_IN_PROGRESS) await Promise.race(inProgress)
    const key = { namespace: NAMESPACE, name: webAppName(index % count) }
    const patch = { spec: { image: `nginx:1.29.${index}` } }
    const change: Promise<unknown> = client.patch(WebApps, key, { type: 'merge', patch })
    inProgress.add(change)
    change.then(
      () => inProgress.delete(change),
      () => undefined, // stays, for the race or the end to fail with it
    )
  }
  await Promise.all(inProgress)
  const reached = total / ((performance.now() - startedAt) / 1_000)
  if (reached < MIN_RATE * perSecond) {
    throw new Error(
      `the API server took ${reached.toFixed(0)} of ${perSecond} changes per second: is the machine busy?`,
    )
  }
  return total
}

/** Everything that was asked for exists, and the statuses say so. */
async function requireConverged(client: KubeClient): Promise<void> {
  const [apps, deployments] = await Promise.all([
    client.listAll(WebApps, { namespace: NAMESPACE }),
    client.listAll(Deployments, { namespace: NAMESPACE }),
  ])
  const images = new Map(
    deployments.items.map(({ metadata, spec }) => [metadata.name, spec?.template.spec?.containers[0]?.image]),
  )
  const wrong = apps.items.filter(
    ({ metadata, spec, status }) =>
      status?.observedGeneration !== metadata.generation || images.get(metadata.name) !== spec.image,
  )
  if (wrong.length > 0)
    throw new Error(`${wrong.length} WebApps have not converged, such as ${wrong[0]?.metadata.name}`)
}

async function measureRestart({ command, core, log, signal }: Stage, count: number) {
  const start = await log.end()
  const startedAt = performance.now()
  await using running = await startOperator(command, { core })
  await running.untilReconciled(count, signal)
  const restartMs = performance.now() - startedAt
  await untilQuiet(log, signal)
  return { restartMs, needlessWrites: (await log.since(start)).writes }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
