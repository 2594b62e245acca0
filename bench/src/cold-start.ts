/** From the start of the operator's process to ready, beside the start of Node itself. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { crdManifest } from '@reeve/crd'
import { CustomResourceDefinitions, connect } from '@reeve/kube'
import { WebAppCrd } from '@reeve/webapp'
import { type ClusterKind, startBenchCluster } from './bench-cluster.ts'
import { freePort } from './free-port.ts'
import type { Result } from './result.ts'

const RUNS = 5

/** How exact the result is. */
const POLL_MS = 5

const OPERATOR = fileURLToPath(new URL('../../operators/webapp/bin/webapp-operator.js', import.meta.url))

/** The median of a few starts. */
export async function coldStart(kind: ClusterKind): Promise<Result> {
  await using cluster = await startBenchCluster(kind)
  const client = await connect({ kubeconfig: cluster.kubeconfigPath })
  await client.apply(CustomResourceDefinitions, crdManifest(WebAppCrd))
  await client.close()
  const ready: number[] = []
  const bare: number[] = []
  // The first start fills Node's compile cache, as the second start of a container does.
  for (let run = 0; run <= RUNS; run++) {
    const readyMs = await timeToReady(cluster.kubeconfigPath)
    const bareMs = await timeOfBareNode()
    if (run > 0) {
      ready.push(readyMs)
      bare.push(bareMs)
    }
  }
  return {
    name: `cold start to ready (${kind})`,
    figure: `${median(ready).toFixed(0)} ms`,
    beside: `${median(bare).toFixed(0)} ms for an empty Node process`,
    ratio: median(ready) / median(bare),
    note: 'lower is better; caches filled, from source',
  }
}

async function timeToReady(kubeconfig: string): Promise<number> {
  const port = await freePort()
  const start = performance.now()
  const child = spawn(
    process.execPath,
    [OPERATOR, 'run', '--kubeconfig', kubeconfig, '--health-port', String(port), '--log-level', 'error'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`the operator ended with ${child.exitCode}`)
    // Asking without a pause would take from the operator the core that it starts on.
    await pause(POLL_MS)
  }
  const durationMs = performance.now() - start
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  return durationMs
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  } catch {
    // The server does not listen yet.
    return false
  }
}

async function timeOfBareNode(): Promise<number> {
  const start = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - start
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
