/** Archives whose parts or whose process end early. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unpackZip } from '@reeve/archives'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { connect, type KubeClient, Namespaces, Pods } from '@reeve/kube'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { readFolder } from '../support/read-folder.ts'
import { until } from '../support/until.ts'

const COMMAND = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))
const NAMESPACE = 'dynatrace'

let cluster: EmbeddedCluster
let client: KubeClient
let folder: string
let kubeconfig: string
let child: ChildProcess | undefined
/** What happens after the first line of the log of the pod `leaving`. */
let afterFirstLine: (signal: AbortSignal) => Promise<void>

beforeAll(async () => {
  cluster = await startEmbeddedCluster({
    authorization: 'AlwaysAllow',
    podLogs: async function* ({ metadata }, { signal }) {
      yield 'first line\n'
      // Every pod has metadata.
      if ((metadata as { name: string }).name === 'leaving') await afterFirstLine(signal)
    },
  })
  folder = await mkdtemp(join(tmpdir(), 'reeve-interrupted-'))
  kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  client = await connect({ kubeconfig, env: {} })
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  const spec = { containers: [{ name: 'main', image: 'x:1' }] }
  const labels = { 'app.kubernetes.io/name': 'dynatrace-operator' }
  for (const name of ['leaving', 'staying']) {
    await client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: NAMESPACE, name, labels }, spec })
  }
  await until('both pods', async () => {
    const { items } = await client.list(Pods, { namespace: NAMESPACE })
    return items.every(({ status }) => status?.phase === 'Running')
  })
}, 60_000)
afterEach(() => {
  child?.kill('SIGKILL')
  child = undefined
})
afterAll(async () => {
  await client?.close()
  await cluster?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Starts the command; what it writes to its outputs is kept. */
function start(...args: readonly string[]) {
  const env = { PATH: process.env.PATH, KUBECONFIG: kubeconfig }
  const started = spawn(process.execPath, [COMMAND, 'support-archive', '-n', NAMESPACE, ...args], { env })
  child = started
  const output = { stdout: Buffer.alloc(0), stderr: '' }
  started.stdout.on('data', (chunk: Buffer) => {
    output.stdout = Buffer.concat([output.stdout, chunk])
  })
  started.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString()
  })
  const ended = new Promise<number | null>((resolve) => started.once('close', resolve))
  return { process: started, output, ended }
}

/** Holds the log back after its first line until it is released or nobody reads it any more. */
function heldLog(): { readonly reached: Promise<void>; readonly release: () => void } {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  afterFirstLine = (signal) => {
    reached.resolve()
    signal.addEventListener('abort', () => released.resolve(), { once: true })
    return released.promise
  }
  return { reached: reached.promise, release: released.resolve }
}

it('says that the log of a pod ends early when the pod disappears meanwhile, and goes on', async () => {
  afterFirstLine = () => Promise.reject(new Error('the node is gone'))
  const file = join(folder, 'archive.zip')
  const { output, ended } = start('--file', file)
  expect(await ended).toBe(0)
  const target = await mkdtemp(join(folder, 'unpacked-'))
  await unpackZip(file, target)
  const files = await readFolder(target)
  expect(files.get('logs/staying/main.log')).toBe('first line\n')
  // Whether the first line arrived before the connection broke is up to the network.
  const note = /logs\/leaving\/main\.log (ends early|is not in the archive): .*(closed|terminated|ECONNRESET|hang up)/
  expect(files.get('supportarchive_console.log')).toMatch(note)
  expect(output.stderr).toContain('collected logs/staying/main.log')
})

it('leaves no file when it is interrupted, and does not exit as if it were complete', async () => {
  const { reached } = heldLog()
  const file = join(folder, 'interrupted.zip')
  const { process: running, ended } = start('--file', file)
  await reached
  running.kill('SIGTERM')
  expect(await ended).not.toBe(0)
  expect((await readdir(folder)).filter((name) => name.startsWith('interrupted'))).toEqual([])
})

it('does not end its output as an archive when it is interrupted', async () => {
  const { reached } = heldLog()
  const { process: running, output, ended } = start('--stdout')
  await reached
  running.kill('SIGTERM')
  expect(await ended).not.toBe(0)
  expect(output.stdout.indexOf('PK\u0005\u0006', 0, 'latin1')).toBe(-1)
})

it('exits like any program in a pipe when whoever reads its output goes away', async () => {
  const { reached, release } = heldLog()
  const { process: running, ended } = start('--stdout')
  await reached
  running.stdout.destroy()
  release()
  // As a shell reports a program that SIGPIPE ended.
  expect(await ended).toBe(141)
})
