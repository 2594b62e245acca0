/** A cluster in a separate process, so that the server's work does not slow down what is measured. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from '@reeve/kube'

/** How to reach the cluster. */
export interface BenchCluster extends AsyncDisposable {
  readonly kubeconfigPath: string
}

/** Which API server is measured against. */
export type ClusterKind = 'embedded' | 'real'

const REEVE = fileURLToPath(new URL('../../packages/cli/bin/reeve.js', import.meta.url))

/** How long a cluster may take to respond. */
const START_MS = 30_000

/** Options of {@link startBenchCluster}. */
export interface BenchClusterOptions {
  /** Let workloads come up. @default false: pods would only take time from what is measured */
  readonly hasControllers?: boolean
}

/** Starts an API server. */
export async function startBenchCluster(kind: ClusterKind, options: BenchClusterOptions = {}): Promise<BenchCluster> {
  const { hasControllers = false } = options
  if (kind === 'real') {
    const { startRealCluster } = await import('@reeve/real-cluster')
    const cluster = await startRealCluster(hasControllers ? {} : { controllers: [] })
    return { kubeconfigPath: cluster.kubeconfigPath, [Symbol.asyncDispose]: () => cluster.stop() }
  }
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  const kubeconfigPath = join(folder, 'kubeconfig')
  const flags = ['--kubeconfig', kubeconfigPath, ...(hasControllers ? [] : ['--no-controllers'])]
  const child = spawn(process.execPath, [REEVE, 'cluster', ...flags], { stdio: ['ignore', 'ignore', 'inherit'] })
  await untilAnswering(kubeconfigPath)
  return {
    kubeconfigPath,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function untilAnswering(kubeconfigPath: string): Promise<void> {
  const deadline = performance.now() + START_MS
  for (;;) {
    try {
      const client = await connect({ kubeconfig: kubeconfigPath })
      await client.raw({ method: 'GET', path: '/version' })
      await client.close()
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(50)
    }
  }
}
