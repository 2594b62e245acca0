/** A node with the driver: its own mount namespace, in which the driver runs as a process and can be killed. */
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mount, parseMounts } from '../../../src/csi/mounts/mount-table.ts'
import { spawnBound } from '../../support/spawn-bound.ts'
import { type CsiClient, csiClient, type Outcome } from './csi-client.ts'

const OPERATOR = fileURLToPath(new URL('../../../bin/dynatrace-operator.js', import.meta.url))

const METRICS = '--metrics-bind-address=127.0.0.1:0'

/** Why mounts cannot be tested on this machine; `undefined` if they can. */
export function missingRights(): string | undefined {
  return process.getuid?.() === 0 ? undefined : 'needs root to mount file systems'
}

/** A volume of a pod. */
export interface PodVolume {
  readonly pod: string
  readonly namespace?: string
  /** Attributes of the volume; those of the pod are added. */
  readonly attributes?: Readonly<Record<string, string>>
}

/** A node. */
export interface CsiNode extends AsyncDisposable {
  /** Everything of it on disk. */
  readonly folder: string
  readonly data: string
  /** Starts the driver; resolves when it serves. */
  start(env?: Readonly<Record<string, string>>, flags?: readonly string[], launch?: Launch): Promise<Driver>
  /** What comes before a command to run it in the namespace of the node. */
  readonly prefix: readonly string[]
  /** The mounts below the folders of this node. */
  mounts(): Promise<readonly Mount[]>
  /** A path as processes on the node see it. */
  seen(path: string): string
  /** Makes the directory of a DynaKube, as the provisioner does. */
  declareDynaKube(name: string): Promise<void>
  /** Installs a code module, as the provisioner does. */
  installModule(version: string, dynakube: string): Promise<string>
  /** Runs a program in the namespace of the node. */
  execute(...command: readonly string[]): Promise<void>
  targetOf(volume: PodVolume): string
  idOf(volume: PodVolume): string
}

/** How a program is started. */
export interface Launch {
  /** @default the source */
  readonly program?: string
  /** The words before the command. @default none */
  readonly runner?: readonly string[]
}

/** A running driver. */
export interface Driver {
  readonly process: ChildProcess
  readonly client: CsiClient
  /** JSON lines. */
  readonly log: () => string
  publish(volume: PodVolume, more?: object): Promise<Outcome>
  unpublish(volume: PodVolume): Promise<Outcome>
  /** Ends it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Makes a node. */
export async function csiNode(): Promise<CsiNode> {
  const folder = await mkdtemp(join(tmpdir(), 'csi-node-'))
  const unshared = ['unshare', '--mount', '--propagation', 'private', 'sleep', 'infinity']
  const holder = spawnBound(unshared, { stdio: 'ignore' })
  await once(holder, 'spawn')
  const data = join(folder, 'data')
  const socket = join(folder, 'csi.sock')
  const drivers = new Set<Driver>()
  const prefix = ['nsenter', '--mount', `--target=${holder.pid}`]
  const inside = (command: readonly string[]) => [...prefix, ...command]
  // unshare replaces itself by the program once the namespace exists.
  while ((await readFile(`/proc/${holder.pid}/comm`, 'utf8')).trim() !== 'sleep') await new Promise(setImmediate)
  const node: CsiNode = {
    folder,
    data,
    prefix,
    seen: (path) => `/proc/${holder.pid}/root${path}`,
    idOf: ({ pod, namespace = 'shop' }) => `csi-${createHash('sha256').update(`${namespace}/${pod}`).digest('hex')}`,
    targetOf: ({ pod, namespace = 'shop' }) => join(folder, 'pods', `${namespace}-${pod}`, 'volumes/mount'),
    async mounts() {
      const table = parseMounts(await readFile(`/proc/${holder.pid}/mountinfo`, 'utf8'))
      return table.filter(({ mountPoint }) => mountPoint.startsWith(folder))
    },
    async declareDynaKube(name) {
      await mkdir(join(data, '_dynakubes', name), { recursive: true })
    },
    async installModule(version, dynakube) {
      const module = join(data, 'codemodules', version)
      const link = join(data, '_dynakubes', dynakube, 'latest-codemodule')
      await mkdir(join(module, 'agent'), { recursive: true })
      await writeFile(join(module, 'agent/installer.version'), version)
      await node.declareDynaKube(dynakube)
      await rm(link, { force: true })
      await symlink(module, link)
      return module
    },
    async execute(...command) {
      const [code] = await once(spawnBound(inside(command), { stdio: 'inherit' }), 'exit')
      if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`)
    },
    async start(env = {}, more = [], { program = OPERATOR, runner = [] } = {}) {
      const flags = [`--endpoint=unix:${socket}`, `--data-root=${data}`, '--node-id=worker-1', ...more, METRICS]
      const command = [...runner, process.execPath, program, 'csi-server', ...flags]
      const child = spawnBound(inside(command), { env: { ...process.env, ...env } })
      let log = ''
      const serving = Promise.withResolvers<void>()
      child.stderr.on('data', (chunk) => {
        log += String(chunk)
        if (log.includes('serving gRPC')) serving.resolve()
      })
      child.once('exit', (code) => serving.reject(new Error(`the driver ended with ${code}: ${log}`)))
      await serving.promise
      const client = csiClient(socket)
      const driver: Driver = {
        process: child,
        client,
        log: () => log,
        publish: (volume, more) =>
          client.call('csi.v1.Node/NodePublishVolume', { ...publishRequest(node, volume), ...more }),
        unpublish: (volume) =>
          client.call('csi.v1.Node/NodeUnpublishVolume', {
            volume_id: node.idOf(volume),
            target_path: node.targetOf(volume),
          }),
        async stop(signal = 'SIGTERM') {
          drivers.delete(driver)
          client[Symbol.dispose]()
          if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
          const ended = once(child, 'exit')
          child.kill(signal)
          return (await ended)[0]
        },
      }
      drivers.add(driver)
      return driver
    },
    async [Symbol.asyncDispose]() {
      for (const driver of drivers) await driver.stop('SIGKILL')
      const ended = once(holder, 'exit')
      // The namespace goes with its last process, and its mounts with it.
      holder.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
  return node
}

/** What the kubelet sends for an inline volume. */
export function publishRequest(node: CsiNode, volume: PodVolume): Readonly<Record<string, unknown>> {
  const { pod, namespace = 'shop', attributes = { mode: 'app', dynakube: 'dk', retryTimeout: '10m0s' } } = volume
  return {
    volume_id: node.idOf(volume),
    target_path: node.targetOf(volume),
    volume_capability: { mount: { fs_type: '' }, access_mode: { mode: 1 } },
    readonly: true,
    volume_context: {
      ...attributes,
      'csi.storage.k8s.io/pod.name': pod,
      'csi.storage.k8s.io/pod.namespace': namespace,
      'csi.storage.k8s.io/pod.uid': '1-2-3',
      'csi.storage.k8s.io/ephemeral': 'true',
    },
  }
}
