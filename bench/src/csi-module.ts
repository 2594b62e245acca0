/** A large agent: how long the provisioner takes beside `unzip`, its memory, and the disk that pods on one agent use. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { link, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { crdManifests, DynaKubes } from '@reeve/dynatrace'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  connect,
  type KubeClient,
  Namespaces,
  Secrets,
} from '@reeve/kube'
import { type Server, startServer } from './agent-download.ts'
import { memoryCgroup } from './memory-cgroup.ts'
import { bundleSmallCommands } from './operator-bundle.ts'
import type { Result } from './result.ts'

const run = promisify(execFile)
const MIB = 1024 ** 2
const LIMIT_BYTES = 128 * MIB
const NAMESPACE = 'dynatrace'
const PODS = 50
const PODS_PROGRAM = fileURLToPath(new URL('./csi-pods.ts', import.meta.url))

/** Installs an agent of `sizeBytes` by the process and from the bundle of the image. */
export async function csiModule(sizeBytes: number): Promise<readonly Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  const children: ChildProcess[] = []
  try {
    const program = await bundleSmallCommands(folder)
    await using tenant = await startServer(sizeBytes)
    await using cluster = await startEmbeddedCluster()
    const kubeconfig = join(folder, 'kubeconfig')
    await cluster.writeKubeconfig(kubeconfig)
    const client = await connect({ kubeconfig })
    await prepare(client, tenant.server)
    await using group = await memoryCgroup('reeve-bench-provisioner')
    const data = join(folder, 'data')
    const addresses = ['--health-probe-bind-address=127.0.0.1:0', '--metrics-bind-address=127.0.0.1:0']
    const [file = '', ...args] = [
      ...group.prefix,
      process.execPath,
      program,
      'csi-provisioner',
      `--data-root=${data}`,
      ...addresses,
    ]
    const env = {
      PATH: process.env.PATH,
      KUBECONFIG: kubeconfig,
      KUBE_NODE_NAME: 'n',
      NODE_OPTIONS: process.env.NODE_OPTIONS,
    }
    const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    children.push(child)
    const log = logOf(child)
    await log.until('controller started')
    await pause(2_000)
    const restBytes = await group.anonymousBytes()
    await create(client, tenant.server)
    const archive = await keepArchive(join(data, 'codemodules'), join(folder, 'agent.zip'))
    const startedAt = performance.now()
    await log.until('downloaded an agent')
    const downloadedAt = performance.now()
    await log.until('new pods get this agent')
    const unpackMs = performance.now() - downloadedAt
    const peakBytes = group.peakBytes
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
    await client.close()
    const unzipMs = await timeOf(() => run('unzip', ['-q', archive, '-d', join(folder, 'unzipped')]))
    return [
      {
        name: `unpack an agent of ${sizeBytes / MIB} MiB`,
        figure: `${(unpackMs / 1_000).toFixed(1)} s`,
        beside: `${(unzipMs / 1_000).toFixed(1)} s for unzip`,
        ratio: unpackMs / unzipMs,
        note: `lower is better; verified and with permissions; ${((downloadedAt - startedAt) / 1_000).toFixed(1)} s to download before`,
      },
      {
        name: 'provisioner, anonymous memory at rest / at most',
        figure: `${(restBytes / MIB).toFixed(0)} / ${(peakBytes / MIB).toFixed(0)} MiB`,
        beside: `${LIMIT_BYTES / MIB} MiB`,
        ratio: peakBytes / LIMIT_BYTES,
        note: 'lower is better, at most 1',
      },
      await diskOfPods(data),
    ]
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

async function prepare(client: KubeClient, { apiToken, certificate }: Server): Promise<void> {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  for (const manifest of crdManifests()) {
    // The manifest keeps its spec open; the server checks it.
    await client.apply(CustomResourceDefinitions, manifest as unknown as CustomResourceDefinition)
  }
  const [metadata, trust] = ['tokens', 'tenant'].map((name) => ({ namespace: NAMESPACE, name }))
  const data = { apiToken: Buffer.from(apiToken).toString('base64') }
  await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: metadata ?? {}, data })
  const certs = { certs: certificate }
  await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: trust ?? {}, data: certs })
}

async function create(client: KubeClient, { apiUrl, version }: Server): Promise<void> {
  const key = { namespace: NAMESPACE, name: 'dk' }
  await client.create(DynaKubes, {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: key,
    spec: { apiUrl, tokens: 'tokens', trustedCAs: 'tenant', oneAgent: { cloudNativeFullStack: {} } },
  })
  const patch = { status: { codeModules: { version } } }
  await client.patch(DynaKubes, key, { type: 'merge', patch }, { subresource: 'status' })
}

/** The provisioner deletes the archive; a second name keeps it for `unzip`. */
async function keepArchive(codeModules: string, name: string): Promise<string> {
  for (;;) {
    const names = await readdir(codeModules).catch(() => [])
    const download = names.find((each) => each.startsWith('download'))
    if (download !== undefined) {
      await link(join(codeModules, download), name)
      return name
    }
    await pause(5)
  }
}

function logOf(child: ChildProcess) {
  let text = ''
  child.stderr?.on('data', (chunk) => {
    text += String(chunk)
  })
  return {
    async until(part: string): Promise<void> {
      while (!text.includes(part)) {
        if (child.exitCode !== null) throw new Error(`the provisioner ended: ${text}`)
        await pause(5)
      }
    },
  }
}

async function diskOfPods(data: string): Promise<Result> {
  const module = await diskBytes(join(data, 'codemodules'))
  const before = await diskBytes(data)
  const isolated = ['--mount', '--propagation', 'private', process.execPath, PODS_PROGRAM, data, String(PODS)]
  const { stdout } = await run('unshare', isolated)
  const added = Number(stdout) - before
  const copies = PODS * module
  return {
    name: `disk of ${PODS} pods on one agent, beside the agent itself`,
    figure: `${(added / MIB).toFixed(1)} MiB`,
    beside: `${(copies / MIB).toFixed(0)} MiB for ${PODS} copies`,
    ratio: added / copies,
    note: 'lower is better; each pod writes 64 KiB',
  }
}

async function diskBytes(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sx', '--block-size=1', folder])
  return Number(stdout.split('\t')[0])
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
