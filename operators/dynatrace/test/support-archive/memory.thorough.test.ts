/** The archive is streamed: how much is collected does not change how much memory the command takes. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { connect, Namespaces, Pods } from '@reeve/kube'
import { expect, it } from 'vitest'
import { until } from '../support/until.ts'

const COMMAND = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))
const NAMESPACE = 'dynatrace'
const MIB = 1024 * 1024
const BLOCK_LENGTH = 32 * 1024
const PODS = 4
const LOG_BYTES = 50 * MIB

/** Lines of the length that logs have, which do not compress well; in blocks, as from a kubelet. */
function* logOf(bytes: number): Generator<string> {
  for (let written = 0, number = 0; written < bytes; ) {
    let block = ''
    for (; block.length < BLOCK_LENGTH; number += 1)
      block += `${number} reconciled ${randomBytes(16).toString('hex')} in 12 ms\n`
    written += block.length
    yield block
  }
}

/** Runs the command; returns its peak of resident memory and the size of the archive. */
async function collect(kubeconfig: string): Promise<{ readonly peakMiB: number; readonly archiveMiB: number }> {
  const args = [COMMAND, 'support-archive', '--stdout', '-n', NAMESPACE]
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, KUBECONFIG: kubeconfig } })
  let archiveBytes = 0
  let progress = ''
  child.stdout.on('data', (chunk: Buffer) => {
    archiveBytes += chunk.length
  })
  child.stderr.on('data', (chunk) => {
    progress += String(chunk)
  })
  let peakKiB = 0
  // The kernel keeps the peak, so that a late look misses little.
  const sampling = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    peakKiB = Math.max(peakKiB, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0))
  }, 20)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(sampling)
  expect(code).toBe(0)
  expect(progress.match(/collected logs\/operator-\d\/main\.log/g)).toHaveLength(PODS)
  return { peakMiB: peakKiB / 1024, archiveMiB: archiveBytes / MIB }
}

it.skipIf(process.platform !== 'linux')(
  'a support archive takes about the same memory for 200 MiB of logs as for none (skipped except on Linux)',
  async () => {
    const state = { bytes: 0 }
    await using cluster = await startEmbeddedCluster({
      authorization: 'AlwaysAllow',
      podLogs: () => logOf(state.bytes),
    })
    const folder = await mkdtemp(join(tmpdir(), 'reeve-archive-memory-'))
    try {
      const kubeconfig = join(folder, 'kubeconfig')
      await cluster.writeKubeconfig(kubeconfig)
      const client = await connect({ kubeconfig, env: {}, fieldManager: 'test' })
      await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
      for (let index = 0; index < PODS; index += 1) {
        await client.create(Pods, {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            namespace: NAMESPACE,
            name: `operator-${index}`,
            labels: { 'app.kubernetes.io/name': 'dynatrace-operator' },
          },
          spec: { containers: [{ name: 'main', image: 'x:1' }] },
        })
      }
      await until('all pods', async () => {
        const { items } = await client.list(Pods, { namespace: NAMESPACE })
        return items.every(({ status }) => status?.phase === 'Running')
      })
      await client.close()
      const small = await collect(kubeconfig)
      state.bytes = LOG_BYTES / 4
      const some = await collect(kubeconfig)
      state.bytes = LOG_BYTES
      const large = await collect(kubeconfig)
      expect(large.archiveMiB).toBeGreaterThan(small.archiveMiB + 50)
      // Garbage grows up to a limit of V8, and sooner on a busy machine; more logs must not raise it further.
      expect(large.peakMiB - some.peakMiB).toBeLessThan(40)
      expect(large.peakMiB - small.peakMiB).toBeLessThan(100)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
  900_000,
)
