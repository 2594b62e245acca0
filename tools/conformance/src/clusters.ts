/** The clusters that specs can run on. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ensureBinaries, showBuildProgress, startRealCluster, startSimulatedNodes } from '@reeve/real-cluster'

/** A cluster that runs until it is disposed of. */
export interface ConformanceCluster extends AsyncDisposable {
  readonly kubeconfig: string
  /** Rejects when the cluster ends by itself. */
  readonly failed: Promise<never>
}

/** Options of both clusters. */
export interface ClusterOptions {
  /** Folder for the kubeconfig and logs. */
  readonly folder: string
  readonly signal: AbortSignal
}

/** The embedded cluster in its own process, as users start it: with RBAC and three nodes. */
export async function startEmbedded({ folder, signal }: ClusterOptions): Promise<ConformanceCluster> {
  const launcher = fileURLToPath(new URL('../bin/reeve.js', import.meta.resolve('@reeve/cli')))
  const kubeconfig = join(folder, 'kubeconfig')
  const child = spawn(process.execPath, [launcher, 'cluster', '--kubeconfig', kubeconfig], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  child.stderr.pipe(createWriteStream(join(folder, 'cluster.log')))
  const failed = exited.then(([code]) => {
    throw new Error(`the embedded cluster exited with ${code}; see ${join(folder, 'cluster.log')}`)
  })
  // Only those who wait for it handle its end.
  failed.catch(() => undefined)
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('is ready at')) resolve()
    })
  })
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
  }
  try {
    await Promise.race([ready, failed, aborted(signal)])
  } catch (error) {
    await stop()
    throw error
  }
  return { kubeconfig, failed, [Symbol.asyncDispose]: stop }
}

/** A real control plane with simulated nodes: the control group. */
export async function startReal({ folder, signal }: ClusterOptions): Promise<ConformanceCluster> {
  const binaries = await ensureBinaries({ onProgress: showBuildProgress(process.stderr), signal })
  await using started = new AsyncDisposableStack()
  const cluster = started.use(await startRealCluster({ binaries, signal, logFolder: folder }))
  // Failures are retried; between results they would look like those of specs.
  const log = createWriteStream(join(folder, 'nodes.log'))
  started.defer(() => void log.end())
  const onFailure = (error: unknown) => void log.write(`${new Date().toISOString()} ${String(error)}\n`)
  const nodes = ['node-1', 'node-2', 'node-3'].map((name) => ({ name }))
  started.use(await startSimulatedNodes(cluster, { nodes, onFailure }))
  const running = started.move()
  return {
    kubeconfig: cluster.kubeconfigPath,
    failed: cluster.failed,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
