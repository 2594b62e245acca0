/** The two API servers that are measured beside each other, each in separate processes and without controllers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectionOf, RawClient } from '@reeve/cluster-under-test'

/** A running server. */
export interface MeasuredServer extends AsyncDisposable {
  readonly client: RawClient
  /** From its start to its first successful response to `/readyz`. */
  readonly startMs: number
  /** What its processes hold in memory now, etcd included. */
  memoryBytes(): Promise<number>
}

const LAUNCHER = fileURLToPath(new URL('../../packages/cli/bin/reeve.js', import.meta.url))

/** Starts only `reeve cluster`. */
export async function startEmbedded(): Promise<MeasuredServer> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const start = performance.now()
  const child = spawn(
    process.execPath,
    [LAUNCHER, 'cluster', '--kubeconfig', kubeconfig, '--no-controllers', '--authorization', 'RBAC'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(child, 'exit')
  // Its first words say that it is ready; an end before them is an error.
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(([code]) => Promise.reject(new Error(`reeve cluster ended with ${code}`))),
  ])
  return measured(kubeconfig, start, [child.pid ?? 0], async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
}

/** Starts etcd and kube-apiserver, or says why that cannot be done here. */
export async function startReal(): Promise<MeasuredServer | { readonly missing: string }> {
  const { findBinaries, startRealCluster } = await import('@reeve/real-cluster')
  const binaries = await findBinaries()
  if (binaries === undefined) return { missing: 'not measured: no kube-apiserver here; `npm run test:real` builds it' }
  const start = performance.now()
  const cluster = await startRealCluster({ binaries, controllers: [] })
  const { etcd = 0, 'kube-apiserver': apiServer = 0 } = cluster.processes
  return measured(cluster.kubeconfigPath, start, [etcd, apiServer], () => cluster.stop())
}

async function measured(
  kubeconfig: string,
  start: number,
  processes: readonly number[],
  stop: () => Promise<void>,
): Promise<MeasuredServer> {
  // Over HTTP/2 the client sends one write at a time, and that would measure the client's queue instead of the server.
  const client = new RawClient({ ...connectionOf(await readFile(kubeconfig, 'utf8')), allowH2: false })
  const { status } = await client.send({ path: '/readyz' })
  const startMs = performance.now() - start
  if (status !== 200) throw new Error(`/readyz returned ${status}`)
  return {
    client,
    startMs,
    async memoryBytes() {
      const sizes = await Promise.all(processes.map(residentBytes))
      return sizes.reduce((sum, size) => sum + size, 0)
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      await stop()
    },
  }
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024
}
