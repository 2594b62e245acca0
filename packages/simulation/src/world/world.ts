/** A closed world: one clock, one source of chance, a cluster in process, and a seam through which all faults come. */
import { crdManifest } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  apiVersionOf,
  CustomResourceDefinitions,
  createClient,
  isConflict,
  isNotFound,
  type KubeClient,
  type KubeObject,
} from '@reeve/kube'
import { SimulatedClock, seededRandom } from '@reeve/runtime/testing'
import type { OperatorUnderTest, Place, PlainObject, User } from '../operator-under-test.ts'
import { type Disturbance, PASS, type SeamCall, type SeamEvent, type SeamRequest } from './disturbance.ts'
import { ForeignMarks } from './foreign-marks.ts'
import { type InstanceEnd, RunningInstance } from './instance.ts'
import { outsideCall } from './outside-call.ts'
import { OutsideService, outsideClient } from './outside-service.ts'
import type { OutsideWorld } from './outside-world.ts'
import { describeRequest, isBookkeeping, LEASES, objectId } from './request-facts.ts'
import { RunBounds, type RunLimits } from './run-bounds.ts'
import type { SeamContext } from './seam.ts'
import { Trace, type TraceKind } from './trace.ts'

/** Options of {@link createWorld}. */
export interface WorldOptions {
  /** The same seed, operator and disturbance give the same world, to the millisecond. */
  readonly seed: number
  /** @default nothing goes wrong */
  readonly disturbance?: Disturbance
  /** Whose outside world is made. @default none but the small service that is always there */
  readonly operator?: OperatorUnderTest
  /** When a run that does not end is cut off. @default see {@link RunLimits} */
  readonly limits?: RunLimits
}

/** The lease that instances compete for when a pattern asks for an election. */
export const LEASE = { namespace: 'default', name: 'operator-under-test' }

/** One thing that the scheduler let happen to an instance. */
export interface SchedulerStep {
  readonly kind: 'request' | 'response' | 'event' | 'timer'
  /** Among its kind; answers have that of their request. */
  readonly index: number
  /** Belongs to what goes on all the time, whether there is something to do or not. */
  readonly isHeartbeat: boolean
}

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
export async function createWorld({ seed, disturbance = {}, operator, limits }: WorldOptions): Promise<World> {
  const clock = new SimulatedClock()
  // An hour of history, so that an old view can be shown long after; when it expires is up to the patterns.
  const eventWindow = { maxAgeMs: 3_600_000 }
  const random = seededRandom(seed)
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    clock,
    random,
    nodes: 3,
    eventWindow,
  })
  const bounds = new RunBounds(limits)
  return new World({ seed, clock, cluster, disturbance, bounds, makeWorld: operator?.world?.bind(operator) })
}

interface WorldParts {
  readonly seed: number
  readonly clock: SimulatedClock
  readonly cluster: EmbeddedCluster
  readonly disturbance: Disturbance
  readonly bounds: RunBounds
  readonly makeWorld: OperatorUnderTest['world']
}

/** See {@link createWorld}. */
export class World implements SeamContext {
  readonly seed: number
  readonly clock: SimulatedClock
  readonly cluster: EmbeddedCluster
  readonly outside = new OutsideService()
  /** What the operator deals with outside the cluster. */
  readonly outsideWorld: OutsideWorld
  readonly trace = new Trace()
  readonly user: User
  /** What somebody else wrote. */
  readonly foreign = new ForeignMarks()
  /** Who edits objects behind the operator's back; the operator's patterns use it. */
  readonly foreigner: KubeClient
  /** Every instance that was ever started. */
  readonly instances: RunningInstance[] = []
  /** Requests and events outside rests, where the heartbeat of watches would drown the rest. */
  readonly requests: SeamRequest[] = []
  readonly events: SeamEvent[] = []
  readonly calls: SeamCall[] = []
  /** All of these, the answers and the timers, in the order in which they happened. */
  readonly steps: SchedulerStep[] = []
  /** Writes that the server carried out, bookkeeping included. */
  readonly writes: CommittedWrite[] = []
  /** What goes wrong, seen from the seam. */
  readonly disturbance: Disturbance = {
    onRequest: (request) => {
      if (this.#isRunaway(request)) return PASS
      if (!this.isResting) {
        this.requests.push(request)
        this.steps.push(stepOf('request', request))
      } else if (request.resource !== LEASES && (request.verb === 'get' || request.verb === 'list')) this.readsAtRest++
      return this.#faults.onRequest?.(request) ?? PASS
    },
    onResponse: (request, status) => {
      if (!this.isResting) this.steps.push(stepOf('response', request))
      return this.#faults.onResponse?.(request, status) ?? { type: 'deliver' }
    },
    onEvent: (event) => {
      if (this.isResting) return { type: 'deliver' }
      this.events.push(event)
      this.steps.push({ kind: 'event', index: event.index, isHeartbeat: false })
      return this.#faults.onEvent?.(event) ?? { type: 'deliver' }
    },
    onCall: (call) => this.#faults.onCall?.(call) ?? 'deliver',
    onCalling: (call) => this.#faults.onCalling?.(call),
    onCalled: (call) => this.#faults.onCalled?.(call),
    onTimer: (timer) => this.#faults.onTimer?.(timer),
  }
  /** Set while hours pass without a reason to write: what happens then is no point for a fault. */
  isResting = false
  /** Reads of objects during rests, leases left out. */
  readsAtRest = 0
  /** Told when an instance ends by itself. */
  onInstanceEnd: (instance: RunningInstance, end: InstanceEnd) => void = () => undefined
  readonly #startMs: number
  readonly #bounds: RunBounds
  #excess: string | undefined
  #faults: Disturbance
  #requestCount = 0
  #eventCount = 0
  #timerCount = 0

  constructor({ seed, clock, cluster, disturbance, bounds, makeWorld }: WorldParts) {
    this.seed = seed
    this.clock = clock
    this.cluster = cluster
    this.#startMs = clock.now()
    this.#bounds = bounds
    this.#faults = disturbance
    const client = this.#client('user')
    this.foreigner = this.#client('somebody-else')
    const place = { clock, random: seededRandom(seed), client: this.#client('outside') }
    this.outsideWorld = makeWorld?.(place) ?? this.outside
    this.user = { client, outside: this.outside, world: this.outsideWorld, put: (object) => put(client, object) }
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
      await this.user.client.create(CustomResourceDefinitions, crdManifest(crd))
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
      outside: (killed) => this.#wayOut(number, killed),
      onTimer: () => this.#timerFired(number),
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

  /** Why all instances were killed: the run would not have ended. */
  get excess(): string | undefined {
    return this.#excess
  }

  /** Who leads, according to the lease that instances compete for. */
  get leaseHolder(): string | undefined {
    const lease = this.cluster.api.get(LEASES, LEASE.namespace, LEASE.name)
    return (lease?.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity
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

  /** Kills everything when there is no end in sight: a killed instance gets no answer, which ends any loop. */
  #isRunaway(request: SeamRequest): boolean {
    this.#excess ??= this.#bounds.count(this.elapsedMs, describeRequest(request))
    if (this.#excess === undefined) return false
    for (const instance of this.running) instance.kill()
    return true
  }

  #client(userAgent: string): KubeClient {
    const transport = { send: this.cluster.handle.bind(this.cluster), close: async () => undefined }
    return createClient({ transport, clock: this.clock, random: () => 0.5, userAgent, fieldManager: userAgent })
  }

  #wayOut(instance: number, killed: AbortSignal): Pick<Place, 'outside' | 'world' | 'call'> {
    const call = outsideCall({ world: this, instance, killed })
    return { outside: outsideClient(this.outside, call), world: this.outsideWorld, call }
  }

  #timerFired(instance: number): void {
    if (this.isResting) return
    const timer = { index: this.#timerCount++, instance }
    this.steps.push({ kind: 'timer', index: timer.index, isHeartbeat: true })
    this.disturbance.onTimer?.(timer)
  }
}

function stepOf(kind: 'request' | 'response', { index, resource }: SeamRequest): SchedulerStep {
  return { kind, index, isHeartbeat: resource === LEASES }
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
