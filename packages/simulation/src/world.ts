/** A closed world: one clock, one source of chance, a cluster in process, and a seam through which all faults come. */
import { crdManifest } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  apiVersionOf,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  isConflict,
  isNotFound,
  type KubeClient,
  type KubeObject,
} from '@reeve/kube'
import { SimulatedClock, seededRandom } from '@reeve/runtime/testing'
import type { Disturbance, SeamCall, SeamEvent, SeamRequest } from './disturbance.ts'
import { type InstanceEnd, RunningInstance } from './instance.ts'
import type { OperatorUnderTest, PlainObject, User } from './operator-under-test.ts'
import { type OutsideClient, OutsideService, outsideClient } from './outside-service.ts'
import { isBookkeeping, objectId } from './request-facts.ts'
import type { SeamContext } from './seam.ts'
import { Trace, type TraceKind } from './trace.ts'

/** Options of {@link createWorld}. */
export interface WorldOptions {
  /** The same seed, operator and disturbance give the same world, to the millisecond. */
  readonly seed: number
  /** @default nothing goes wrong */
  readonly disturbance?: Disturbance
}

/** The lease that instances compete for when a pattern asks for an election. */
export const LEASE = { namespace: 'default', name: 'operator-under-test' }

/** A write of the operator that reached the server. */
export interface CommittedWrite extends SeamRequest {
  readonly atMs: number
  readonly status: number
}

/**
 * Starts a world.
 *
 * @example
 * const world = await createWorld({ seed: 1 })
 * await world.install(operator)
 * world.start(operator)
 * await world.clock.advance(60_000)
 * await world.close()
 */
export async function createWorld({ seed, disturbance = {} }: WorldOptions): Promise<World> {
  const clock = new SimulatedClock()
  // An hour of history, so that an old view can be shown long after; when it expires is up to the patterns.
  const eventWindow = { maxAgeMs: 3_600_000 }
  const random = seededRandom(seed)
  const cluster = await startEmbeddedCluster({ listen: false, clock, random, nodes: 3, eventWindow })
  return new World(seed, clock, cluster, disturbance)
}

/** See {@link createWorld}. */
export class World implements SeamContext {
  readonly seed: number
  readonly clock: SimulatedClock
  readonly cluster: EmbeddedCluster
  readonly outside = new OutsideService()
  readonly trace = new Trace()
  readonly user: User
  /** Who edits objects behind the operator's back; the operator's patterns use it. */
  readonly foreigner: KubeClient
  /** Every instance that was ever started. */
  readonly instances: RunningInstance[] = []
  /** Requests and events outside rests, where the heartbeat of watches would drown the rest. */
  readonly requests: SeamRequest[] = []
  readonly events: SeamEvent[] = []
  readonly calls: SeamCall[] = []
  /** Writes that the server carried out, bookkeeping included. */
  readonly writes: CommittedWrite[] = []
  /** What goes wrong, seen from the seam. */
  readonly disturbance: Disturbance = {
    onRequest: (request) => {
      if (this.isResting) {
        if (request.verb === 'get' || request.verb === 'list') this.readsAtRest++
        return { type: 'pass' }
      }
      this.requests.push(request)
      return this.#faults.onRequest?.(request) ?? { type: 'pass' }
    },
    onResponse: (request, status) => this.#faults.onResponse?.(request, status) ?? { type: 'deliver' },
    onEvent: (event) => {
      if (this.isResting) return { type: 'deliver' }
      this.events.push(event)
      return this.#faults.onEvent?.(event) ?? { type: 'deliver' }
    },
    onCall: (call) => this.#faults.onCall?.(call) ?? 'deliver',
    onCalled: (call) => this.#faults.onCalled?.(call),
  }
  /** Set while hours pass without a reason to write: what happens then is no point for a fault. */
  isResting = false
  /** Reads of objects during rests. */
  readsAtRest = 0
  /** Told when an instance ends by itself. */
  onInstanceEnd: (instance: RunningInstance, end: InstanceEnd) => void = () => undefined
  readonly #startMs: number
  #faults: Disturbance
  #requestCount = 0
  #eventCount = 0

  constructor(seed: number, clock: SimulatedClock, cluster: EmbeddedCluster, disturbance: Disturbance) {
    this.seed = seed
    this.clock = clock
    this.cluster = cluster
    this.#startMs = clock.now()
    this.#faults = disturbance
    const client = this.#client('user')
    this.foreigner = this.#client('somebody-else')
    this.user = { client, outside: this.outside, put: (object) => put(client, object) }
  }

  /** Virtual milliseconds since the start. */
  get elapsedMs(): number {
    return this.clock.now() - this.#startMs
  }

  /** Replaces what goes wrong, for disturbances that need the world to act on it. */
  disturb(disturbance: Disturbance): void {
    this.#faults = disturbance
  }

  /** Installs the operator's CRDs. */
  async install(operator: OperatorUnderTest): Promise<void> {
    for (const crd of operator.crds) {
      // The manifest is what the server accepts; the built-in type spells its schema out.
      await this.user.client.create(CustomResourceDefinitions, crdManifest(crd) as unknown as CustomResourceDefinition)
    }
  }

  /** Starts an instance of the operator. */
  start(operator: OperatorUnderTest, options: { readonly election?: boolean } = {}): RunningInstance {
    const number = this.instances.length + 1
    this.record(number, 'life', 'started')
    const instance = new RunningInstance({
      operator,
      seam: this,
      number,
      seed: this.seed,
      leaderElection: options.election ? { lease: LEASE } : undefined,
      outside: (isKilled) => this.#outsideClient(number, isKilled),
      onEnd: (ended, end) => {
        this.record(number, 'life', end.type === 'stopped' ? 'ended' : `failed: ${end.error.message}`)
        this.onInstanceEnd(ended, end)
      },
    })
    this.instances.push(instance)
    return instance
  }

  /** The instances that still run. */
  get running(): readonly RunningInstance[] {
    return this.instances.filter(({ end, isKilled }) => end === undefined && !isKilled)
  }

  /** How often the operator wrote what it manages: neither leases nor events count. */
  get managedWrites(): readonly CommittedWrite[] {
    return this.writes.filter(({ resource }) => !isBookkeeping(resource))
  }

  /** Ends everything. */
  async close(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.bury()))
    await this.cluster.stop()
  }

  nextRequest(): number {
    return this.isResting ? -1 : this.#requestCount++
  }

  nextEvent(): number {
    return this.isResting ? -1 : this.#eventCount++
  }

  record(instance: number, kind: TraceKind, text: string): void {
    this.trace.add({ atMs: this.elapsedMs, instance, kind, text })
  }

  answered(request: SeamRequest, status: number): void {
    if (request.isWrite && status < 300) this.writes.push({ ...request, atMs: this.elapsedMs, status })
  }

  /** Successful creations, or deletions, of each object by the operator. */
  countByObject(what: 'create' | 'delete'): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const write of this.managedWrites) {
      if (write.subresource !== undefined) continue
      // An apply that makes an object answers 201.
      const isCreation = write.verb === 'create' || (write.verb === 'patch' && write.status === 201)
      if (what === 'create' ? !isCreation : write.verb !== 'delete') continue
      const id = objectId(write)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  }

  #client(userAgent: string): KubeClient {
    const transport = { send: this.cluster.handle.bind(this.cluster), close: async () => undefined }
    return createClient({ transport, clock: this.clock, random: () => 0.5, userAgent, fieldManager: userAgent })
  }

  #outsideClient(instance: number, isKilled: () => boolean): OutsideClient {
    return outsideClient(this.outside, async (operation, act) => {
      if (isKilled()) return new Promise(() => undefined)
      const call: SeamCall = { index: this.calls.length, instance, operation }
      this.calls.push(call)
      this.record(instance, 'outside', operation)
      const fate = this.disturbance.onCall?.(call) ?? 'deliver'
      const result = act()
      if (fate === 'lose') return new Promise(() => undefined)
      this.disturbance.onCalled?.(call)
      return result
    })
  }
}

/** Creates or replaces: what a user means by putting a file, whatever is there. */
async function put(client: KubeClient, object: KubeObject & PlainObject): Promise<void> {
  const { name = '', namespace } = object.metadata
  const resource = await client.resourceFor(object)
  const key = { name, ...(namespace !== undefined && { namespace }) }
  for (let attempt = 0; ; attempt++) {
    try {
      const live = await client.get(resource, key)
      const { resourceVersion } = live.metadata
      const { status } = live as KubeObject & { readonly status?: unknown }
      const replaced = { ...object, metadata: { ...live.metadata, ...object.metadata, resourceVersion } }
      await client.update(resource, (status === undefined ? replaced : { ...replaced, status }) as KubeObject)
      return
    } catch (error) {
      if (isNotFound(error)) {
        await client.create(resource, { ...object, apiVersion: apiVersionOf(resource) })
        return
      }
      if (!isConflict(error) || attempt >= 5) throw error
    }
  }
}
