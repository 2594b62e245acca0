/**
 * How fast N Collectors become available, beside the same `helm install` commands from a shell; and what they cost
 * then.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findClientBinary } from '@reeve/client-binaries'
import { type Collector, CollectorCrd, Collectors, createCollectorOperator } from '@reeve/collector'
import { crdManifest } from '@reeve/crd'
import { ChartStore, findHelm, type HelmBinary, openHelm, runProcess } from '@reeve/helm'
import { sleep } from '@reeve/http'
import { CustomResourceDefinitions, connect, type KubeClient, loadConfig } from '@reeve/kube'
import { type ClusterKind, startBenchCluster } from './bench-cluster.ts'
import type { Result } from './result.ts'

const CHARTS = fileURLToPath(new URL('../../operators/collector/charts', import.meta.url))

/** Concurrent Helm processes, on either side. */
const HELM_CONCURRENCY = 4

/** No pods: they would only take time from what is measured. */
const VALUES = { replicas: 0 }

/** While the steady state is watched, a settled Collector is checked this often, instead of once a minute. */
const CHECK_INTERVAL_MS = 1_000
const RECONCILES_EACH = 5

/** Releases that warm both sides and the server up. */
const WARM_UP = 4

/** Runs the benchmark with `count` Collectors. */
export async function collectors(kind: ClusterKind, count: number): Promise<readonly Result[]> {
  const carried = await findClientBinary('helm')
  const helm = await findHelm(carried === undefined ? {} : { fallbackPath: carried })
  await using cluster = await startBenchCluster(kind, { hasControllers: true })
  const { kubeconfigPath } = cluster
  const client = await connect({ kubeconfig: kubeconfigPath, fieldManager: 'bench' })
  await client.apply(CustomResourceDefinitions, crdManifest(CollectorCrd))
  await untilServed(client)
  const home = await mkdtemp(join(tmpdir(), 'reeve-bench-helm-'))
  const shell = { HOME: home, KUBECONFIG: kubeconfigPath, HELM: helm.path }
  await shellInstalls(shell, 'warm', WARM_UP)
  const shellMs = await shellInstalls(shell, 'shell', count)
  await rm(home, { recursive: true, force: true })
  const installing = await startOperator(helm, kubeconfigPath)
  await available(client, 'warm', WARM_UP)
  installing.commands.length = 0
  const operatorMs = await available(client, 'operator', count)
  const processes = installing.commands.length
  await installing.stop()
  const steady = await steadyState(helm, kubeconfigPath, count + WARM_UP)
  await client.close()
  return [
    {
      name: `${count} Collectors from nothing to Available (${kind})`,
      figure: `${(operatorMs / 1_000).toFixed(1)} s, ${(processes / count).toFixed(2)} helm processes each`,
      beside: `${(shellMs / 1_000).toFixed(1)} s for helm install from a shell, ${HELM_CONCURRENCY} concurrently`,
      ratio: operatorMs / shellMs,
      note: 'lower is better; aim: 1.5 or less',
    },
    {
      name: `steady state of ${count + WARM_UP} Collectors (${kind})`,
      figure: `${steady.processes} helm processes, ${steady.writes} writes`,
      beside: `${steady.reconciles} reconciles, starting with a restart`,
      ratio: Number.NaN,
      note: 'aim: none',
    },
  ]
}

/** The environment of the shell; helm caches discovery in its home, on either side. */
interface Shell {
  readonly HOME: string
  readonly KUBECONFIG: string
  readonly HELM: string
}

/** The commands that a user would type: `xargs` runs several of them concurrently. */
async function shellInstalls(shell: Shell, prefix: string, count: number): Promise<number> {
  const numbers = Array.from({ length: count }, (_, index) => index).join('\n')
  const install =
    `"$HELM" install log-collector-eu1 "${CHARTS}/log-collector" --namespace="${prefix}-{}" --create-namespace ` +
    `--set=replicas=${VALUES.replicas} --output=json >/dev/null`
  const script = `printf '%s\\n' "$NUMBERS" | xargs -P ${HELM_CONCURRENCY} -I{} sh -c '${install}'`
  const start = performance.now()
  const { HOME, KUBECONFIG, HELM } = shell
  const child = spawn('sh', ['-c', script], {
    env: { PATH: process.env.PATH, HOME, KUBECONFIG, HELM, NUMBERS: numbers },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  const durationMs = performance.now() - start
  if (code !== 0) throw new Error(`helm install from a shell ended with ${code}`)
  return durationMs
}

interface RunningOperator {
  /** Every helm process so far, as its arguments. */
  readonly commands: (readonly string[])[]
  readonly counts: { reconciles: number; writes: number }
  stop(): Promise<void>
}

async function startOperator(
  binary: HelmBinary,
  kubeconfig: string,
  checkIntervalMs?: number,
): Promise<RunningOperator> {
  const commands: (readonly string[])[] = []
  const counts = { reconciles: 0, writes: 0 }
  const onRequest = ({ method }: { readonly method: string }) => {
    if (method !== 'GET') counts.writes++
  }
  const client = await connect({ kubeconfig, fieldManager: 'collector-operator', onRequest })
  const helm = await openHelm(binary, await loadConfig({ kubeconfig }), {
    maxConcurrent: HELM_CONCURRENCY,
    runProcess(request) {
      commands.push(request.args)
      return runProcess(request)
    },
  })
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-charts-'))
  const stop = new AbortController()
  const { manager, cache } = createCollectorOperator({
    client,
    helm,
    charts: new ChartStore(folder),
    adminNamespaces: ['default'],
    settings: {
      clusters: { development: { type: 'directory', location: CHARTS } },
      createdNamespaces: { clusterRole: 'admin' },
    },
    onReconcile: () => counts.reconciles++,
    ...(checkIntervalMs !== undefined && { checkIntervalMs }),
  })
  const running = manager.run(stop.signal)
  await cache.waitForSync(stop.signal)
  return {
    commands,
    counts,
    async stop() {
      stop.abort()
      await running
      await helm.close()
      await client.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** From the first Collector to the last that is available. */
async function available(client: KubeClient, prefix: string, count: number): Promise<number> {
  const start = performance.now()
  const left = new Set(Array.from({ length: count }, (_, index) => `${prefix}-${index}`))
  const stop = new AbortController()
  const { resourceVersion } = (await client.list(Collectors, { namespace: 'default' })).metadata
  const watching = (async () => {
    const options = { namespace: 'default', signal: stop.signal, ...(resourceVersion && { resourceVersion }) }
    for await (const { type, object } of client.watch(Collectors, options)) {
      if (type === 'MODIFIED' && object.status?.phase === 'Available') left.delete(object.metadata.name)
      if (left.size === 0) return
    }
    throw new Error(`the watch ended before ${left.size} Collectors were available`)
  })()
  await Promise.all([...left].map((name) => client.create(Collectors, collector(name))))
  await watching
  const durationMs = performance.now() - start
  stop.abort()
  return durationMs
}

function collector(name: string): Collector {
  return {
    apiVersion: 'example.com/v1alpha',
    kind: 'Collector',
    metadata: { namespace: 'default', name },
    // What is left out has a default in the schema.
    spec: {
      collector: { name: 'log-collector', configuration: Buffer.from(JSON.stringify(VALUES)).toString('base64') },
      tenant: { id: name, reference: `tenant-${name}`, instance: 'eu1' },
      cluster: 'development',
    } as Collector['spec'],
  }
}

/** A new operator reconciles everything several times. */
async function steadyState(helm: HelmBinary, kubeconfig: string, count: number) {
  const { commands, counts, stop } = await startOperator(helm, kubeconfig, CHECK_INTERVAL_MS)
  while (counts.reconciles < count * RECONCILES_EACH) await sleep(CHECK_INTERVAL_MS)
  await stop()
  return { processes: commands.length, ...counts }
}

async function untilServed(client: KubeClient): Promise<void> {
  for (;;) {
    try {
      await client.list(Collectors, { namespace: 'default' })
      return
    } catch {
      // Not established yet: the next attempt will show.
    }
  }
}
