/** A cluster and a tenant that processes can reach, and the provisioner as a process. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { ConfigMaps, connect, type KubeClient, Namespaces } from '@reeve/kube'
import { type DynaKubeSpec, DynaKubes } from '../../../src/api/latest.ts'
import { DataPaths } from '../../../src/csi/data-paths.ts'
import { startTenantSimulator, type TenantOptions, type TenantSimulator } from '../../../src/tenant/simulator/index.ts'
import { installCrds } from '../../support/install-crds.ts'
import { spawnBound } from '../../support/spawn-bound.ts'
import { createSecret, NAMESPACE, TENANT } from './provisioner-stage.ts'

const OPERATOR = fileURLToPath(new URL('../../../bin/dynatrace-operator.js', import.meta.url))

/** What processes need. */
export interface ProvisionerWorld extends AsyncDisposable {
  readonly client: KubeClient
  readonly simulator: TenantSimulator
  /** A directory of this test. */
  readonly folder: string
  /** Creates a DynaKube whose agent has this version. */
  dynakube(name: string, version: string, more?: DynaKubeParts): Promise<void>
  setVersion(name: string, version: string): Promise<void>
  /** Decides what agent a DynaKube has, as the operator does. */
  decide(name: string, codeModules: Readonly<Record<string, string>>): Promise<void>
  start(options: StartOptions): ProvisionerProcess
}

/** Parts of a DynaKube. */
export interface DynaKubeParts {
  /** @default cloudNativeFullStack */
  readonly spec?: Partial<DynaKubeSpec>
  readonly annotations?: Readonly<Record<string, string>>
}

/** How to start a process. */
export interface StartOptions {
  readonly dataRoot: string
  /** What comes before the command, such as `nsenter`. */
  readonly prefix?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** @default the source */
  readonly program?: string
}

/** A running provisioner. */
export interface ProvisionerProcess {
  readonly process: ChildProcess
  readonly paths: DataPaths
  readonly log: () => string
  /** Resolves when the log has the text. Rejects if the process ends before. */
  logged(text: string): Promise<void>
  /** Ends it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Makes one. */
export async function provisionerWorld(tenant: Omit<TenantOptions, 'id'> = {}): Promise<ProvisionerWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'provisioner-process-'))
  const { agentSizeBytes } = tenant
  const simulator = await startTenantSimulator({
    tenants: [{ id: TENANT, ...tenant }],
    // Images are kept in memory.
    ...(agentSizeBytes !== undefined && { registry: { agentSizeBytes: Math.min(agentSizeBytes, 1024 ** 2) } }),
  })
  const cluster = await startEmbeddedCluster()
  const kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  const client = await connect({ kubeconfig })
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  await installCrds(client)
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name: 'tenant' },
    data: { certs: simulator.caCertificate },
  })
  await createSecret(client, 'tokens', { apiToken: simulator.tenant(TENANT).tokens.get('apiToken')?.value ?? '' })
  const running = new Set<ProvisionerProcess>()
  const decide = async (name: string, codeModules: Readonly<Record<string, string>>) => {
    const patch = { status: { codeModules } }
    const key = { namespace: NAMESPACE, name }
    await client.patch(DynaKubes, key, { type: 'merge', patch }, { subresource: 'status' })
  }
  const setVersion = (name: string, version: string) => decide(name, { version })
  return {
    client,
    simulator,
    folder,
    decide,
    setVersion,
    async dynakube(name, version, { spec = { oneAgent: { cloudNativeFullStack: {} } }, annotations = {} } = {}) {
      await client.create(DynaKubes, {
        apiVersion: 'dynatrace.com/v1beta6',
        kind: 'DynaKube',
        metadata: { namespace: NAMESPACE, name, annotations },
        spec: { apiUrl: simulator.url(TENANT), tokens: 'tokens', trustedCAs: 'tenant', ...spec },
      })
      await setVersion(name, version)
    },
    start(options) {
      const started = startProcess(options, kubeconfig)
      running.add(started)
      started.process.once('exit', () => running.delete(started))
      return started
    },
    async [Symbol.asyncDispose]() {
      for (const each of running) await each.stop('SIGKILL')
      await client.close()
      await cluster.stop()
      await simulator.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function startProcess(options: StartOptions, kubeconfig: string): ProvisionerProcess {
  const { dataRoot, prefix = [], env = {}, program = OPERATOR } = options
  const flags = [
    `--data-root=${dataRoot}`,
    '--health-probe-bind-address=127.0.0.1:0',
    '--metrics-bind-address=127.0.0.1:0',
  ]
  const command = [...prefix, process.execPath, program, 'csi-provisioner', ...flags]
  const variables = { PATH: process.env.PATH, KUBECONFIG: kubeconfig, KUBE_NODE_NAME: 'worker-1', ...env }
  const child = spawnBound(command, { env: variables })
  let log = ''
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of listeners) listener()
  }
  child.stderr.on('data', (chunk) => {
    log += String(chunk)
    notify()
  })
  child.once('exit', notify)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    process: child,
    paths: new DataPaths(dataRoot),
    log: () => log,
    logged: (text) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (log.includes(text)) resolve()
          else if (hasEnded()) reject(new Error(`the provisioner ended: ${log}`))
          else return
          listeners.delete(check)
        }
        listeners.add(check)
        check()
      }),
    async stop(signal = 'SIGTERM') {
      if (hasEnded()) return child.exitCode
      const ended = once(child, 'exit')
      child.kill(signal)
      return (await ended)[0]
    },
  }
}
