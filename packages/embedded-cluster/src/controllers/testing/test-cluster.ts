/** A cluster with its controllers under a clock that a test moves. */
import { setImmediate } from 'node:timers/promises'
import type { JsonObject } from '../../json.ts'
import { type ControllersOptions, createControllers } from '../index.ts'
import type { Namespace } from '../kinds/cluster.ts'
import type { ClusterObject, Draft } from '../kinds/meta.ts'
import type { Pod } from '../kinds/pods.ts'
import type { Deployment, ReplicaSet } from '../kinds/workloads.ts'
import { ResourceClient } from '../resource-client.ts'
import type { SimulatorController } from '../simulator-controller.ts'
import { FakeCluster } from './fake-cluster.ts'
import { TestClock } from './test-clock.ts'

/** An error a controller met, as a test sees it. */
export interface Problem {
  readonly controller: string
  readonly key: string
  readonly error: unknown
}

/** The cluster of a test. */
export class TestCluster {
  readonly api: FakeCluster
  readonly clock: TestClock
  readonly problems: Problem[] = []
  readonly #options: ControllersOptions
  #controllers: SimulatorController[] = []

  constructor(options: ControllersOptions = {}) {
    this.clock = new TestClock(() => this.settle())
    this.api = new FakeCluster(this.clock)
    this.#options = options
    this.#start()
  }

  get controllers(): readonly SimulatorController[] {
    return this.#controllers
  }

  /** Typed access to a resource. */
  of<T extends ClusterObject>(resource: string): ResourceClient<T> {
    return new ResourceClient<T>(this.api, resource)
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

  /** Changes an object as a user would, whatever its present version. */
  async change<T extends ClusterObject>(resource: string, key: string, change: (object: T) => T): Promise<T> {
    const client = this.of<T>(resource)
    const [namespace = '', name = ''] = key.includes('/') ? key.split('/') : ['', key]
    const object = client.get(namespace, name)
    if (object === undefined) throw new Error(`${resource} ${key} does not exist`)
    return client.update(change(object))
  }

  async createNamespace(name: string): Promise<void> {
    const namespace: Draft<Namespace> = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    await this.of<Namespace>('namespaces').create(namespace)
  }

  /** Any object, for kinds a test does not care to type. */
  async create(resource: string, object: JsonObject): Promise<JsonObject> {
    return this.api.create(resource, object)
  }

  /** Waits until no controller has anything to do before time passes. */
  async settle(): Promise<void> {
    do await setImmediate()
    while (this.#controllers.some(({ isIdle }) => !isIdle))
  }

  /** Lets time pass. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()))
  }

  /** Starts new controllers on what is stored, as after a crash of the process. */
  async restart(): Promise<void> {
    await this.stop()
    this.#start()
    await this.settle()
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

/** A cluster with the namespace `default` and its nodes up. */
export async function startTestCluster(options: ControllersOptions = {}): Promise<TestCluster> {
  const cluster = new TestCluster({ podStartDelayMs: 1000, ...options })
  await cluster.createNamespace('default')
  await cluster.settle()
  return cluster
}
