/** Archives whose parts, whose process or whose output end early. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unpackZip } from '@reeve/archives'
import { runCaptured } from '@reeve/cli/testing'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { connect, type KubeClient, Namespaces, Pods } from '@reeve/kube'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { missingRights } from '../csi/support/csi-node.ts'
import { readFolder } from '../support/read-folder.ts'
import { until } from '../support/until.ts'

const COMMAND = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))
const NAMESPACE = 'dynatrace'
const SUPPORT_ARCHIVE = ['support-archive', '-n', NAMESPACE]
/** More than the disks and buffers of these tests hold. */
const LARGE = ['--loadsim-files', '1', '--loadsim-file-size', '4']

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

/** Runs the command inside this process: where it ends by itself, and writes to a file, another one shows nothing more. */
const run = (...args: readonly string[]) =>
  runCaptured(main, [...SUPPORT_ARCHIVE, ...args], { env: { KUBECONFIG: kubeconfig } })

/** Starts the command; what it writes to its outputs is kept. */
const start = (...args: readonly string[]) => startProgram(process.execPath, [COMMAND, ...SUPPORT_ARCHIVE, ...args])

/** The same in a shell, which finds the command in `$@`. */
const startInShell = (script: string, ...args: readonly string[]) =>
  startProgram('sh', ['-c', script, 'sh', process.execPath, COMMAND, ...SUPPORT_ARCHIVE, ...args])

function startProgram(program: string, args: readonly string[]) {
  const env = { PATH: process.env.PATH, KUBECONFIG: kubeconfig }
  const started = spawn(program, args, { env })
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

it('the command support-archive says that the log of a pod ends early when the pod disappears meanwhile, and goes on', async () => {
  afterFirstLine = () => Promise.reject(new Error('the node is gone'))
  const file = join(folder, 'archive.zip')
  const { code, stderr } = await run('--file', file)
  expect(code).toBe(0)
  const target = await mkdtemp(join(folder, 'unpacked-'))
  await unpackZip(file, target)
  const files = await readFolder(target)
  expect(files.get('logs/staying/main.log')).toBe('first line\n')
  // Whether the first line arrived before the connection broke is up to the network.
  const note = /logs\/leaving\/main\.log (ends early|is not in the archive): .*(closed|terminated|ECONNRESET|hang up)/
  expect(files.get('supportarchive_console.log')).toMatch(note)
  expect(stderr).toContain('collected logs/staying/main.log')
})

it('the command support-archive leaves no file when it is interrupted, and does not exit as if it were complete', async () => {
  const { reached } = heldLog()
  const file = join(folder, 'interrupted.zip')
  const { process: running, ended } = start('--file', file)
  await reached
  running.kill('SIGTERM')
  expect(await ended).not.toBe(0)
  expect((await readdir(folder)).filter((name) => name.startsWith('interrupted'))).toEqual([])
})

it('the command support-archive does not end its output as an archive when it is interrupted', async () => {
  const { reached } = heldLog()
  const { process: running, output, ended } = start('--stdout')
  await reached
  running.kill('SIGTERM')
  expect(await ended).not.toBe(0)
  expect(output.stdout.indexOf('PK\u0005\u0006', 0, 'latin1')).toBe(-1)
})

it('the command support-archive exits like any program in a pipe when whoever reads its output goes away', async () => {
  const { reached, release } = heldLog()
  const { process: running, ended } = start('--stdout')
  await reached
  running.stdout.destroy()
  release()
  // As a shell reports a program that SIGPIPE ended.
  expect(await ended).toBe(141)
})

const noMounts = missingRights()

it.skipIf(noMounts)(
  `the command support-archive says that the disk is full, and leaves no file${noMounts ? ` (skipped: ${noMounts})` : ''}`,
  async () => {
    afterFirstLine = () => Promise.resolve()
    const disk = await mkdtemp(join(folder, 'disk-'))
    // The mount is in a namespace of the shell's own, which is gone when it ends.
    const script = `unshare -m sh -c 'mount -t tmpfs -o size=256k tmpfs ${disk} && "$@"; code=$?; ls -A ${disk}; exit $code' sh "$@"`
    const file = join(disk, 'archive.zip')
    const { output, ended } = startInShell(script, '--file', file, ...LARGE)
    expect(await ended).toBe(1)
    expect(output.stdout.toString()).toBe('')
    expect(output.stderr).toMatch(
      /^dynatrace-operator: cannot write the archive \S+archive\.zip: ENOSPC: no space left.*\. Free some space, or write it to another disk$/m,
    )
    // It is no part that is missing.
    expect(output.stderr).not.toMatch(/is not in the archive: .*ENOSPC|complete but for/)
  },
)

it('the command support-archive says that a file may not become so large, and keeps the archive of before', async () => {
  afterFirstLine = () => Promise.resolve()
  const file = join(folder, 'limited.zip')
  await writeFile(file, 'the archive of before')
  // The cache of compiled modules would be limited, too.
  const script = 'export NODE_DISABLE_COMPILE_CACHE=1; ulimit -f 128 && exec "$@"'
  const { output, ended } = startInShell(script, '--file', file, ...LARGE)
  expect(await ended).toBe(1)
  expect(output.stderr).toMatch(/cannot write the archive \S+limited\.zip: EFBIG.*\. Raise the limit/)
  expect((await readdir(folder)).filter((name) => name.startsWith('limited'))).toEqual(['limited.zip'])
  expect(await readFile(file, 'utf8')).toBe('the archive of before')
})

it('the command support-archive says which folder is missing before it collects anything', async () => {
  const { code, stderr } = await run('--file', join(folder, 'nowhere/archive.zip'))
  expect(code).toBe(1)
  expect(stderr).toMatch(/cannot write the archive \S+nowhere\/archive\.zip: ENOENT.*\. Create the folder first$/m)
  expect(stderr).not.toContain('collected')
})

it.skipIf(process.platform !== 'linux')(
  'the command support-archive says that its standard output is on a full disk (skipped except on Linux)',
  async () => {
    afterFirstLine = () => Promise.resolve()
    const { output, ended } = startInShell('exec "$@" > /dev/full', '--stdout', ...LARGE)
    expect(await ended).toBe(1)
    const sentence = 'dynatrace-operator: cannot write to standard output: ENOSPC: no space left on device, write\n'
    expect(output.stderr.endsWith(sentence)).toBe(true)
    expect(output.stderr).not.toContain(' at ')
  },
)
