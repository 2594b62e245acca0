/** How fast N WebApps converge, beside the same writes sent bare with the same concurrency. */
import { crdManifest } from '@reeve/crd'
import {
  CustomResourceDefinitions,
  connect,
  Deployments,
  Events,
  type KubeClient,
  Namespaces,
  Services,
} from '@reeve/kube'
import { createWebAppOperator, renderWebApp, type WebApp, WebAppCrd, WebApps } from '@reeve/webapp'
import { type ClusterKind, startBenchCluster } from './bench-cluster.ts'
import type { Result } from './result.ts'
import { CONCURRENCY, createWebApps, inParallel, untilServed } from './webapp-load.ts'

/** How long the API server may take to serve a new kind. */
const SERVED_MS = 30_000

/** Runs the benchmark with `count` WebApps. */
export async function reconcileThroughput(kind: ClusterKind, count: number): Promise<Result> {
  await using cluster = await startBenchCluster(kind)
  const client = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'bench' })
  await client.apply(CustomResourceDefinitions, crdManifest(WebAppCrd))
  for (const name of ['warm', 'bare', 'operator']) {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  await untilServed(client, AbortSignal.timeout(SERVED_MS))
  // Both sides find the server's code compiled.
  await bareWrites(client, await createWebApps(client, 'warm', 100))
  const bareApps = await createWebApps(client, 'bare', count)
  const bareMs = await bareWrites(client, bareApps)
  await createWebApps(client, 'operator', count)
  const { durationMs, writes } = await operatorWrites(cluster.kubeconfigPath, count)
  await client.close()
  return {
    name: `reconcile ${count} WebApps (${kind})`,
    figure: `${(durationMs / 1_000).toFixed(1)} s, ${(writes / count).toFixed(2)} writes each`,
    beside: `${(bareMs / 1_000).toFixed(1)} s, 4 bare writes each`,
    ratio: bareMs / durationMs,
    note: 'Deployment, Service, status and an event; aim: 0.8 or more',
  }
}

/** The writes of an operator without anything that makes an operator. */
async function bareWrites(client: KubeClient, apps: readonly WebApp[]): Promise<number> {
  const start = performance.now()
  await inParallel(apps.length, async (index) => {
    const app = apps[index]
    if (app === undefined) return
    const [deployment, service] = renderWebApp(app)
    await client.create(Deployments, deployment?.object as never)
    await client.create(Services, service?.object as never)
    await client.update(WebApps, { ...app, status: { phase: 'WaitingForPods' } }, { subresource: 'status' })
    await client.create(Events, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: app.metadata.namespace ?? '', generateName: 'bench-' },
      involvedObject: { apiVersion: app.apiVersion, kind: app.kind, ...pick(app) },
      reason: 'WaitingForPods',
      message: 'Created → WaitingForPods: created Deployment, created Service; waiting for 2 replicas to start',
      type: 'Normal',
    })
  })
  return performance.now() - start
}

function pick({ metadata: { namespace = '', name = '', uid = '' } }: WebApp) {
  return { namespace, name, uid }
}

async function operatorWrites(kubeconfig: string, count: number): Promise<{ durationMs: number; writes: number }> {
  let writes = 0
  let reconciled = 0
  const done = Promise.withResolvers<void>()
  const client = await connect({
    kubeconfig,
    fieldManager: 'webapp-operator',
    onRequest: ({ verb }) => {
      if (!['get', 'list', 'watch'].includes(verb)) writes++
      if (writes >= 4 * count) done.resolve()
    },
  })
  const stop = new AbortController()
  const { manager, cache } = createWebAppOperator({
    client,
    namespaces: ['operator'],
    concurrency: CONCURRENCY,
    onReconcile: () => reconciled++,
  })
  const running = manager.run(stop.signal)
  await cache.waitForSync(stop.signal)
  const start = performance.now()
  await done.promise
  const durationMs = performance.now() - start
  stop.abort()
  await running
  await client.close()
  return { durationMs, writes }
}
