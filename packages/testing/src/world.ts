/** A cluster with an operator on it, as a test sees it. */
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import { type SimulatedClock, SimulatedTimeError } from '@reeve/http/testing'
import {
  apiVersionOf,
  isApiError,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Stored,
} from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import type { LogLine } from '@reeve/runtime/testing'
import { type Activity, NotSettledError } from './activity.ts'
import { type Duration, describeDuration, milliseconds } from './duration.ts'
import type { CreatedForTest, InMemoryOptions, Replica, WorkingController } from './replica.ts'

/** An object as a user writes it: the server adds `apiVersion`, `kind`, the namespace and what has a default. */
export type Written<T> = T extends (infer Item)[] | readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Written<T[K]> }
    : T

/** The name of an object in the namespace `default`, or its key. */
export type Named = string | { readonly namespace?: string; readonly name: string }

/** Requests that fail. */
export interface RequestFault {
  /** @default every verb that writes */
  readonly verb?: string | readonly string[]
  readonly resource: Resource
  readonly subresource?: string
  readonly name?: string
  /** The HTTP status. @default 500 */
  readonly code?: number
  /** @default 1 */
  readonly times?: number
}

/** What the API server says about an object that is not stored. */
export interface Review<T extends KubeObject> {
  /** As it would be stored, undefined if it is rejected. */
  readonly object: Stored<T> | undefined
  /** Why it is rejected, as the user reads it. */
  readonly rejection: string | undefined
  readonly warnings: readonly string[]
}

/** Options of an operator that the world does not provide. */
export type ReplicaOptions<Options> = Omit<Options, keyof InMemoryOptions>

/** What a world is made of. */
export interface WorldParts<Created extends CreatedForTest, Options> {
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  readonly clock: SimulatedClock
  readonly activity: Activity
  readonly reconciles: readonly ReconcileRecord[]
  readonly log: readonly LogLine[]
  readonly warnings: string[]
  readonly start: (options: ReplicaOptions<Options> | undefined) => Replica<Created>
}

const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection']

/** The longest that anything may take. */
const PATIENCE_MS = 3_600_000

/** Small against every delay of the runtime; an hour of them takes milliseconds. */
const STEP_MS = 1_000

/**
 * The cluster, the operator and their time.
 *
 * *Guarantees*: time passes only in `settle`, `pass`, `until`, `writesDuring`, `restart` and at the end; what a user of
 * a real API server would get rejected is rejected with the same `ApiError`.
 *
 * @example
 * await using world = await runInMemory(greeter)
 * await world.apply(Greetings, { metadata: { name: 'hello' }, spec: { text: 'hi' } })
 * await world.settle()
 */
export class World<Created extends CreatedForTest = CreatedForTest, Options = object> implements AsyncDisposable {
  /** The cluster: faults, counts of requests, direct access. */
  readonly cluster: EmbeddedCluster
  /** A client of the test's own. */
  readonly client: KubeClient
  readonly clock: SimulatedClock
  /** The last reconciles, oldest first; at most 1,000. */
  readonly reconciles: readonly ReconcileRecord[]
  /** What the operator and its webhooks logged. */
  readonly log: readonly LogLine[]
  readonly #activity: Activity
  readonly #warnings: string[]
  readonly #start: WorldParts<Created, Options>['start']
  #replicas: readonly { readonly replica: Replica<Created>; readonly options: ReplicaOptions<Options> | undefined }[] =
    []

  constructor(parts: WorldParts<Created, Options>) {
    const { cluster, client, clock, activity, reconciles, log, warnings, start } = parts
    this.cluster = cluster
    this.client = client
    this.clock = clock
    this.reconciles = reconciles
    this.log = log
    this.#activity = activity
    this.#warnings = warnings
    this.#start = start
  }

  /** The replicas that run, oldest first: one, unless a test stops it or starts another. */
  get replicas(): readonly Replica<Created>[] {
    return this.#replicas.map(({ replica }) => replica).filter(({ isRunning }) => isRunning)
  }

  /** Starts another replica of the operator; it fills its caches while time passes. */
  start(options?: ReplicaOptions<Options>): Replica<Created> {
    const replica = this.#start(options)
    this.#replicas = [...this.#replicas, { replica, options }]
    this.#activity.touched()
    return replica
  }

  /** Creates the object or changes it, as `kubectl apply --server-side` does. */
  apply<T extends KubeObject>(resource: Resource<T>, object: Written<T> & { readonly metadata: Named }) {
    this.#activity.touched()
    return this.client.apply(resource, this.#complete(resource, object), { fieldManager: 'test', force: true })
  }

  /** What the API server and all webhooks say about the object; nothing is stored. */
  async review<T extends KubeObject>(
    resource: Resource<T>,
    object: Written<T> & { readonly metadata: Named },
  ): Promise<Review<T>> {
    const before = this.#warnings.length
    const options = { fieldManager: 'test', force: true, dryRun: true }
    const answer = await this.client.apply(resource, this.#complete(resource, object), options).then(
      (stored) => ({ object: stored, rejection: undefined }),
      (error: unknown) => {
        if (isApiError(error)) return { object: undefined, rejection: error.message }
        throw error
      },
    )
    return { ...answer, warnings: this.#warnings.slice(before) }
  }

  /** Merges the patch into the object. */
  patch<T extends KubeObject>(resource: Resource<T>, named: Named, patch: Written<T>): Promise<Stored<T>> {
    this.#activity.touched()
    // A patch has the shape of the object, nothing more.
    const merge = patch as Readonly<Record<string, unknown>>
    return this.client.patch(resource, keyOf(resource, named), { type: 'merge', patch: merge })
  }

  /** Deletes the object; finalizers of the operator run while time passes. */
  async delete(resource: Resource, named: Named): Promise<void> {
    this.#activity.touched()
    await this.client.delete(resource, keyOf(resource, named))
  }

  get<T extends KubeObject>(resource: Resource<T>, named: Named): Promise<Stored<T>> {
    return this.client.get(resource, keyOf(resource, named))
  }

  /** The object, or undefined if there is none. */
  async find<T extends KubeObject>(resource: Resource<T>, named: Named): Promise<Stored<T> | undefined> {
    return this.get(resource, named).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
  }

  /** All objects of a kind, in all namespaces. */
  async list<T extends KubeObject>(resource: Resource<T>): Promise<readonly Stored<T>[]> {
    return (await this.client.listAll(resource)).items
  }

  /** Makes requests fail. Returns the function that ends it. */
  fail({ verb = WRITES, resource, code = 500, times = 1, ...rest }: RequestFault): () => void {
    const plural = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
    return this.cluster.faults.inject({ verb, resource: plural, ...rest }, { kind: 'status', code }, { times })
  }

  /**
   * Lets time pass until nothing is left to do: no reconcile fails or is in progress, and nothing was written for a
   * while. An operator that only polls has settled.
   *
   * *Errors*: {@link NotSettledError} with what is still pending after an hour; what the operator ended with.
   */
  async settle(): Promise<void> {
    this.#activity.touched()
    for (let passedMs = 0; passedMs <= PATIENCE_MS; passedMs += STEP_MS) {
      await this.#advance(STEP_MS)
      if (this.#activity.isQuiet(this.#controllers)) return
    }
    throw this.#notSettled(`not settled after ${describeDuration(PATIENCE_MS)} of simulated time`)
  }

  /** Lets time pass; everything that is due happens. */
  async pass(duration: Duration): Promise<void> {
    for (let leftMs = milliseconds(duration); leftMs > 0; leftMs -= STEP_MS) {
      await this.#advance(Math.min(leftMs, STEP_MS))
    }
  }

  /** Lets time pass until the condition holds: to see a state on the way. The condition may let time pass itself. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>
  /** The same for an object, which is returned; the error shows its last status. */
  until<T extends KubeObject>(
    resource: Resource<T>,
    named: Named,
    condition: (object: Stored<T>) => boolean,
  ): Promise<Stored<T>>
  async until<T extends KubeObject>(
    ...wanted:
      | [() => boolean | Promise<boolean>]
      | [resource: Resource<T>, named: Named, condition: (object: Stored<T>) => boolean]
  ): Promise<Stored<T> | undefined> {
    if (wanted.length === 1) {
      await this.#until(wanted[0])
      return undefined
    }
    const [resource, named, condition] = wanted
    let object: Stored<T> | undefined
    const describe = () => {
      const { name } = keyOf(resource, named)
      // Not every kind has a status.
      const { status } = (object ?? {}) as { readonly status?: unknown }
      return `${resource.kind} ${name} ${object === undefined ? 'does not exist' : `has the status ${JSON.stringify(status)}`}`
    }
    await this.#until(async () => {
      object = await this.find(resource, named)
      return object !== undefined && condition(object)
    }, describe)
    return object
  }

  /** Lets time pass and returns how many requests wrote something meanwhile. */
  async writesDuring(duration: Duration): Promise<number> {
    const before = this.cluster.requests.writes
    await this.pass(duration)
    return this.cluster.requests.writes - before
  }

  /** Kills all replicas, as lost nodes do, and starts them again; what they have in memory is lost. */
  async restart(): Promise<void> {
    const running = this.#replicas.filter(({ replica }) => replica.isRunning)
    for (const { replica } of running) replica.kill()
    this.#replicas = []
    for (const { options } of running) this.start(options)
    await this.#advance(STEP_MS)
  }

  /** Stops the operator and the cluster. *Errors*: what the operator ended with. */
  async stop(): Promise<void> {
    try {
      for (const { replica } of this.#replicas) {
        if (replica.failure !== undefined) throw replica.failure
        if (replica.isRunning) await replica.stop()
      }
    } finally {
      await this.cluster.stop()
    }
  }

  /** Same as {@link stop}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #complete<T extends KubeObject>(resource: Resource<T>, object: Written<T> & { readonly metadata: Named }): T {
    const { name, namespace } = keyOf(resource, object.metadata)
    const metadata = { ...(object.metadata as object), name, ...(namespace !== undefined && { namespace }) }
    // What a user leaves out, the server adds or rejects.
    return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...(object as object), metadata } as unknown as T
  }

  async #advance(ms: number): Promise<void> {
    try {
      await this.clock.advance(ms)
    } catch (error) {
      if (error instanceof SimulatedTimeError) throw this.#notSettled(error.message)
      throw error
    }
    this.#throwIfEnded()
  }

  async #until(condition: () => boolean | Promise<boolean>, describe?: () => string): Promise<void> {
    const deadlineMs = this.clock.now() + PATIENCE_MS
    await this.clock.settle()
    while (!this.#hasEnded() && !(await condition())) {
      const { nextTimerMs = Number.POSITIVE_INFINITY } = this.clock
      if (nextTimerMs > deadlineMs) {
        const what = `the condition does not hold within ${describeDuration(PATIENCE_MS)} of simulated time`
        throw this.#notSettled(describe === undefined ? what : `${describe()}: ${what}`)
      }
      await this.#advance(nextTimerMs - this.clock.now())
    }
    this.#throwIfEnded()
  }

  #hasEnded(): boolean {
    return this.#replicas.some(({ replica: { failure, excess } }) => (failure ?? excess) !== undefined)
  }

  #throwIfEnded(): void {
    for (const { replica } of this.#replicas) {
      if (replica.failure !== undefined) throw replica.failure
      if (replica.excess !== undefined) throw this.#notSettled(replica.excess)
    }
  }

  get #controllers(): readonly WorkingController[] {
    return this.replicas.flatMap(({ operator }) => operator.controllers ?? [])
  }

  #notSettled(what: string): NotSettledError {
    return new NotSettledError([what, ...this.#activity.pending(this.#controllers)].join('\n  '))
  }
}

function keyOf({ namespaced }: Resource, named: Named): { readonly namespace?: string; readonly name: string } {
  const { namespace = 'default', name } = typeof named === 'string' ? { name: named } : named
  return namespaced ? { namespace, name } : { name }
}
