/** An in-memory API server with its controllers and a clock that a test advances. */
import { setImmediate } from 'node:timers/promises'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../cluster.ts'
import type { EmbeddedClusterOptions } from '../../cluster-options.ts'
import type { JsonObject } from '../../json.ts'
import { isLostRace } from '../control-loop.ts'
import { type ControllersOptions, createControllers } from '../index.ts'
import type { Namespace } from '../kinds/cluster.ts'
import type { ClusterObject, Draft } from '../kinds/meta.ts'
import type { Pod } from '../kinds/pods.ts'
import type { Deployment, ReplicaSet } from '../kinds/workloads.ts'
import { ResourceClient } from '../resource-client.ts'
import type { SimulatorController } from '../simulator-controller.ts'
import { TestClock } from './test-clock.ts'
import { WatchedApi } from './watched-api.ts'

/** An error of a controller. */
export interface Problem {
  readonly controller: string
  readonly key: string
  readonly error: unknown
}

type StoreSize = Pick<EmbeddedClusterOptions, 'maxObjects'>

/** The cluster of a test. */
export class TestCluster {
  readonly api: WatchedApi
  readonly clock: TestClock
  readonly problems: Problem[] = []
  readonly #cluster: EmbeddedCluster
  readonly #options: ControllersOptions
  #controllers: SimulatorController[] = []

  private constructor(cluster: EmbeddedCluster, clock: TestClock, options: ControllersOptions) {
    this.#cluster = cluster
    this.clock = clock
    this.api = new WatchedApi(cluster.api)
    this.#options = options
    this.#start()
  }

  static async start(options: ControllersOptions, { maxObjects }: StoreSize): Promise<TestCluster> {
    let rest = async (): Promise<void> => undefined
    const clock = new TestClock(() => rest())
    const embedded = await startEmbeddedCluster({
      listen: false,
      authorization: 'AlwaysAllow',
      controllers: false,
      clock,
      random: sequence(),
      ...(maxObjects === undefined ? {} : { maxObjects }),
    })
    const cluster = new TestCluster(embedded, clock, options)
    rest = () => cluster.#rest()
    await cluster.settle()
    return cluster
  }

  get controllers(): readonly SimulatorController[] {
    return this.#controllers
  }

  /** Typed access to a resource. */
  of<T extends ClusterObject>(resource: string): ResourceClient<T> {
    return new ResourceClient<T>(this.#cluster.api, resource)
  }

  get pods(): ResourceClient<Pod> {
    return this.of('pods')
  }

  get deployments(): ResourceClient<Deployment> {
    return this.of('deployments.apps')
  }

  get replicaSets(): ResourceClient<ReplicaSet> {
    return this.of('replicasets.apps')
  }

  /** Changes an object as a user would, whatever its current version. */
  async change<T extends ClusterObject>(resource: string, key: string, change: (object: T) => T): Promise<T> {
    const client = this.of<T>(resource)
    const [namespace = '', name = ''] = key.includes('/') ? key.split('/') : ['', key]
    for (;;) {
      const object = client.get(namespace, name)
      if (object === undefined) throw new Error(`${resource} ${key} does not exist`)
      try {
        return await client.update(change(object))
      } catch (error) {
        // A conflict with a controller: retry on the newer version, as kubectl does.
        if (!isLostRace(error)) throw error
      }
    }
  }

  async createNamespace(name: string): Promise<void> {
    const namespace: Draft<Namespace> = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    await this.of<Namespace>('namespaces').create(namespace)
  }

  /** Creates an object of any kind. */
  async create(resource: string, object: JsonObject): Promise<JsonObject> {
    return this.#cluster.api.create(resource, object)
  }

  async delete(resource: string, namespace: string | undefined, name: string): Promise<void> {
    await this.#cluster.api.delete(resource, namespace, name)
  }

  /** Defines a custom resource with a minimal schema. */
  async define(kind: string, group: string): Promise<void> {
    const singular = kind.toLowerCase()
    const plural = `${singular}s`
    const schema = {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    }
    await this.create('customresourcedefinitions.apiextensions.k8s.io', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    })
    await this.settle()
  }

  /** Completes all work that is possible without time passing. */
  async settle(): Promise<void> {
    await this.clock.advance(0)
  }

  /** Advances the clock. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms)
  }

  /** Stops the controllers; the API continues to work. */
  async stop(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()))
  }

  /** Starts new controllers on the stored objects, as after a crash of the process. */
  async restart(): Promise<void> {
    await this.stop()
    this.#start()
    await this.settle()
  }

  async #rest(): Promise<void> {
    do await setImmediate()
    while (this.#controllers.some(({ isIdle }) => !isIdle))
  }

  #start(): void {
    const onError = (controller: string, key: string, error: unknown) => this.problems.push({ controller, key, error })
    this.#controllers = createControllers(this.api, {
      clock: this.clock,
      random: () => 0.5,
      recordEvents: false,
      onError,
      ...this.#options,
    })
    for (const controller of this.#controllers) controller.start()
  }
}

/** The same sequence in every run. */
function sequence(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A cluster with its nodes ready. */
export function startTestCluster(options: ControllersOptions = {}, size: StoreSize = {}): Promise<TestCluster> {
  return TestCluster.start({ podStartDelayMs: 1000, ...options }, size)
}
