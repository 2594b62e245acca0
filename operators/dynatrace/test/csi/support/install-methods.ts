/** The methods by which an agent gets onto a node, for tests that are the same for all of them. */
import { once } from 'node:events'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sleep } from '@reeve/http'
import { Jobs, PriorityClasses, ServiceAccounts } from '@reeve/kube'
import { DATA_ROOT, DRIVER_OBJECTS } from '../../../src/csi/names.ts'
import { spawnBound } from '../../support/spawn-bound.ts'
import type { CsiNode } from './csi-node.ts'
import type { ProvisionerWorld } from './provisioner-process.ts'
import { NAMESPACE, TENANT } from './provisioner-stage.ts'

const PROGRAM = fileURLToPath(new URL('../../../bin/dynatrace-bootstrapper.js', import.meta.url))
const CODE_MODULES = 'dynatrace/dynatrace-codemodules'
const NODE_IMAGE = 'registry.example.com/codemodules:1'
const AGENT_VERSION = '1.2.3.20250101-101010'

/** A way to install an agent, with the DynaKube `dk` that asks for it. */
export interface InstallMethod {
  /** Below `codemodules`. */
  readonly folder: string
  /** What `status.codeModules` contains when the operator has decided. */
  readonly decided: Readonly<Record<string, string>>
  /** Before that. */
  readonly undecided: Readonly<Record<string, string>>
}

const HERE: Pick<CsiNode, 'prefix' | 'seen'> = { prefix: [], seen: (path) => path }

/** Names of methods. */
export const METHODS = ['ZIP', 'image', 'Job'] as const

/** Creates the DynaKube, not yet decided. */
export async function declareMethod(world: ProvisionerWorld, name: (typeof METHODS)[number]): Promise<InstallMethod> {
  const { simulator } = world
  if (name === 'ZIP') {
    const { agent: version } = simulator.tenant(TENANT).versions
    await world.dynakube('dk', '')
    return { folder: version, decided: { version }, undecided: { version: '' } }
  }
  const tag = simulator.registry.tags(CODE_MODULES)?.at(-1) ?? ''
  const image = name === 'image' ? simulator.registry.reference(CODE_MODULES, tag) : NODE_IMAGE
  const spec = { oneAgent: { cloudNativeFullStack: { codeModulesImage: image } } }
  const annotations = { 'feature.dynatrace.com/node-image-pull': String(name === 'Job') }
  await world.dynakube('dk', '', { spec, annotations })
  const folder = Buffer.from(image).toString('base64')
  return { folder, decided: { imageID: image }, undecided: { imageID: '' } }
}

/** Runs the programs of Jobs; simulated nodes run none. */
export class JobPrograms implements AsyncDisposable {
  readonly #world: ProvisionerWorld
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  /** Where the data directory is now. */
  #dataRoot = ''
  #node: Pick<CsiNode, 'prefix' | 'seen'> = HERE
  #failures = 0

  private constructor(world: ProvisionerWorld, source: string) {
    this.#world = world
    this.#running = this.#run(source)
  }

  /** Prepares the cluster and an agent to copy, and begins. */
  static async start(world: ProvisionerWorld): Promise<JobPrograms> {
    const account = { namespace: NAMESPACE, name: DRIVER_OBJECTS }
    await world.client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account })
    const name = 'dynatrace-high-priority'
    const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value: 1_000_000 }
    await world.client.create(PriorityClasses, priority)
    const source = join(world.folder, 'image')
    const files = {
      'agent/installer.version': AGENT_VERSION,
      'agent/conf/ruxitagentproc.conf': 'settings',
      [`agent/bin/${AGENT_VERSION}/liboneagentjava.so`]: 'x'.repeat(64 * 1024),
    }
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(source, path)), { recursive: true })
      await writeFile(join(source, path), content)
    }
    return new JobPrograms(world, source)
  }

  /** How many have failed since the last call of `use`. */
  get failures(): number {
    return this.#failures
  }

  /** @param node where programs run. @default in the namespaces of this process */
  use(dataRoot: string, node: Pick<CsiNode, 'prefix' | 'seen'> = HERE): void {
    this.#dataRoot = dataRoot
    this.#node = node
    this.#failures = 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** One after the other; one that fails is started again, as the kubelet does. */
  async #run(source: string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const { items } = await this.#world.client.list(Jobs, { namespace: NAMESPACE })
      for (const { spec } of items) {
        const args = spec?.template.spec?.containers[0]?.args ?? []
        const mapped = args.map((arg) => arg.replace(`=${DATA_ROOT}/`, `=${this.#dataRoot}/`))
        const target = mapped.find((arg) => arg.startsWith('--target='))?.slice('--target='.length) ?? ''
        const isThere = await stat(this.#node.seen(target)).catch(() => undefined)
        if (isThere || this.#dataRoot === '') continue
        const given = mapped.map((arg) => (arg.startsWith('--source=') ? `--source=${source}` : arg))
        const program = spawnBound([...this.#node.prefix, process.execPath, PROGRAM, ...given], { stdio: 'ignore' })
        const [code] = await once(program, 'exit')
        if (code !== 0) this.#failures++
      }
      await sleep(50)
    }
  }
}
