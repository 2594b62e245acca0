/** One round: a control plane, WebApps, and one operator that brings them up. */
import { Deployments, type KubeClient, type KubeObject, Services, type Stored } from '@reeve/kube'
import type { RealCluster } from '@reeve/real-cluster'
import { CREATED_FROM } from '@reeve/runtime/engine'
import { controllerReference } from '@reeve/runtime/owner-references'
import { renderWebApp, type WebApp, WebApps } from '@reeve/webapp'
import { createWebApps, inParallel, webAppName } from '../webapp-load.ts'
import { type OperatorCommand, startOperator, type Usage, usageOf } from './operator-process.ts'
import type { OperatorOn } from './programs.ts'
import { NAMESPACE, onControlPlane } from './webapp-cluster.ts'

/** After this long without work an operator counts as idle. */
const REST_MS = 3_000

/** What one operator did in one round. */
export interface WebAppRound {
  /** From the start of the process until every status was written. */
  readonly readyMs: number
  /** From the start of the process until every WebApp was reconciled, with nothing to do. */
  readonly restartMs: number
  readonly operator: Usage
  readonly apiServerCpuMs: number
  /** Requests until every status was written, without watches and leases. */
  readonly requests: Readonly<Record<string, number>>
  /** Writes after the restart. */
  readonly restartWrites: number
  /** Resident, without WebApps. */
  readonly idleBytes: number
  /** Resident, after everything is written. */
  readonly restBytes: number
  readonly peakBytes: number
  /** A status as it was written. */
  readonly status: WebApp['status']
}

/** Measures an operator on a control plane of its own. */
export function webAppRound(operator: OperatorOn, count: number): Promise<WebAppRound> {
  return onControlPlane(async (client, cluster, signal) => {
    const command = operator(cluster)
    const idleBytes = await idleMemory(command)
    await createWebApps(client, NAMESPACE, count)
    const bringUp = await measureBringUp(client, cluster, command, count, signal)
    const { status } = await client.get(WebApps, { namespace: NAMESPACE, name: webAppName(0) })
    const restart = await measureRestart(client, command, count, signal)
    return { idleBytes, ...bringUp, ...restart, status }
  })
}

/**
 * The raw limit: how long the same writes take when they are sent bare. On a control plane of its own, as an API server
 * takes longer to find an address for a Service the more Services there are.
 *
 * @param status what the operator writes
 */
export function bareRound(count: number, status: WebApp['status']): Promise<number> {
  return onControlPlane(async (client) => bareWrites(client, await createWebApps(client, NAMESPACE, count), status))
}

async function measureBringUp(
  client: KubeClient,
  cluster: RealCluster,
  command: OperatorCommand,
  count: number,
  signal: AbortSignal,
) {
  const apiServer = cluster.processes['kube-apiserver'] ?? 0
  const [requestsBefore, usageBefore] = await Promise.all([requestsOf(client), usageOf(apiServer)])
  const allWritten = statusesWritten(client, count, signal)
  const startedAt = performance.now()
  await using running = await startOperator(command)
  await allWritten
  const readyMs = performance.now() - startedAt
  const [operator, usageAfter, requestsAfter] = await Promise.all([
    running.usage(),
    usageOf(apiServer),
    requestsOf(client),
  ])
  await rest()
  const { residentBytes: restBytes, peakBytes } = await running.usage()
  return {
    readyMs,
    operator,
    restBytes,
    peakBytes,
    apiServerCpuMs: usageAfter.cpuMs - usageBefore.cpuMs,
    requests: difference(requestsAfter, requestsBefore),
  }
}

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS))

async function idleMemory(command: OperatorCommand): Promise<number> {
  await using running = await startOperator(command)
  await rest()
  return (await running.usage()).residentBytes
}

async function measureRestart(client: KubeClient, command: OperatorCommand, count: number, signal: AbortSignal) {
  const before = await requestsOf(client)
  const startedAt = performance.now()
  await using running = await startOperator(command)
  await running.untilReconciled(count, signal)
  const restartMs = performance.now() - startedAt
  await rest()
  const after = difference(await requestsOf(client), before)
  const restartWrites = Object.entries(after).reduce(
    (sum, [verb, value]) => sum + (verb.startsWith('GET') ? 0 : value),
    0,
  )
  return { restartMs, restartWrites }
}

/** The writes of an operator without anything that makes an operator. */
async function bareWrites(
  client: KubeClient,
  apps: readonly Stored<WebApp>[],
  status: WebApp['status'],
): Promise<number> {
  const startedAt = performance.now()
  await inParallel(apps.length, async (index) => {
    const app = apps[index]
    if (app === undefined) return
    const [deployment, service] = renderWebApp(app)
    await client.create(Deployments, asSent(app, deployment?.object) as never)
    await client.create(Services, asSent(app, service?.object) as never)
    const { managedFields: _, ...metadata } = app.metadata
    await client.update(WebApps, { ...app, metadata, ...(status && { status }) }, { subresource: 'status' })
  })
  return performance.now() - startedAt
}

/** What the engine adds to an object that it creates. */
function asSent(app: Stored<WebApp>, object: KubeObject | undefined) {
  const annotations = { [CREATED_FROM]: '0123456789abcdef' }
  return { ...object, metadata: { ...object?.metadata, annotations, ownerReferences: [controllerReference(app)] } }
}

/** Resolves when every WebApp has a status of the operator. The watch is open before this returns. */
async function statusesWritten(client: KubeClient, count: number, signal: AbortSignal): Promise<void> {
  const written = new Set<string>()
  const ending = new AbortController()
  const { metadata } = await client.list(WebApps, { namespace: NAMESPACE, limit: 1 })
  const { resourceVersion = '' } = metadata ?? {}
  for await (const event of client.watch(WebApps, {
    namespace: NAMESPACE,
    resourceVersion,
    signal: AbortSignal.any([signal, ending.signal]),
  })) {
    if (event.type === 'BOOKMARK') continue
    const { metadata: of, status } = event.object
    if (status?.observedGeneration !== undefined) written.add(of.name ?? '')
    if (written.size >= count) return ending.abort()
  }
}

/** How many requests the API server has served, by verb and kind. Watches, and kinds of the cluster itself, do not count. */
async function requestsOf(client: KubeClient): Promise<Record<string, number>> {
  const text = await client.raw<string>({ method: 'GET', path: '/metrics' })
  const counts: Record<string, number> = {}
  for (const line of text.split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? ''
    const resource = label('resource')
    if (!['deployments', 'services', 'webapps', 'events'].includes(resource) || label('verb') === 'WATCH') continue
    const verb = `${label('verb')} ${resource}`
    counts[verb] = (counts[verb] ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1))
  }
  return counts
}

function difference(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(
    Object.entries(after).flatMap(([verb, value]) =>
      value === before[verb] ? [] : [[verb, value - (before[verb] ?? 0)]],
    ),
  )
}
