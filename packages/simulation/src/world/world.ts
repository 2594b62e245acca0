/** A closed world: one clock, one source of randomness, a cluster in process, and a seam through which all faults come. */
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import type { KubeClient } from '@reeve/kube'
import { seededRandom } from '@reeve/runtime/testing'
import { ambientPatch } from '../ambient/ambient-patch.ts'
import { type AmbientSource, withAmbient } from '../ambient/ambient-source.ts'
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import type { OperatorUnderTest, Place, User } from '../operator-under-test.ts'
import { type Pace, type RealTime, realPace, SIMULATED_PACE } from '../pace.ts'
import { claimedClient, parsed, put } from './claimed-client.ts'
import type { Disturbance, SeamRequest } from './disturbance.ts'
import { ForeignMarks } from './foreign-marks.ts'
import type { InstanceEnd, RunningInstance } from './instance.ts'
import { Instances } from './instances.ts'
import { type Actor, Ledger } from './ledger.ts'
import { ObservedDisturbance } from './observed-disturbance.ts'
import { Occurrences } from './occurrences.ts'
import { outsideCall } from './outside-call.ts'
import { OutsideEffects } from './outside-effects.ts'
import { OutsideService, outsideClient } from './outside-service.ts'
import type { OutsideWorld } from './outside-world.ts'
import { describeRequest, mostFrequent } from './request-facts.ts'
import { RunBounds, type RunLimits } from './run-bounds.ts'
import { type Numbering, RunLog } from './run-log.ts'
import type { SeamContext } from './seam.ts'
import { storedDefinitions } from './stored-definitions.ts'
import type { TraceKind } from './trace.ts'
import { HurriedClock, type WorldClock } from './world-clock.ts'

/** Options of {@link createWorld}. */
export interface WorldOptions {
  /** The same seed, operator and disturbance give the same world, to the millisecond. */
  readonly seed: number
  /** @default no faults */
  readonly disturbance?: Disturbance
  /** Whose outside world is made. @default none but the small service that is always there */
  readonly operator?: OperatorUnderTest
  /** When a run that does not end is cut off. @default see {@link RunLimits} */
  readonly limits?: RunLimits
  /** When the clock starts, in milliseconds since the epoch. @default 2030-01-01T00:00:00Z */
  readonly startMs?: number
  /** Of a run in real time: the undisturbed run, whose numbers are used. @default numbers of its own */
  readonly numbering?: Numbering | undefined
}

/** A day of history, so that an old view can be shown long after; when it expires is up to the patterns. */
const EVENT_WINDOW = { maxAgeMs: 24 * 3_600_000 }

/** Requests by which a loop is described. */
const LOOKED_AT = 500

/** How long processes may take to stop when their run is interrupted; whoever interrupted it waits. */
const STOP_GRACE_MS = 3_000

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
export async function createWorld(options: WorldOptions): Promise<World> {
  const { realTime } = options.operator ?? {}
  if (realTime !== undefined) return createRealWorld(realTime, options)
  const { startMs } = options
  const clock = new SimulatedClock(startMs === undefined ? {} : { startMs })
  const random = seededRandom(options.seed)
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    clock,
    random,
    nodes: 3,
    eventWindow: EVENT_WINDOW,
  })
  ambientPatch.acquire()
  try {
    return new World(clock, cluster, options)
  } catch (error) {
    ambientPatch.release()
    throw error
  }
}

/** A world in real time: nothing in this process is made virtual, and the cluster has the time of the operator. */
async function createRealWorld(realTime: RealTime, options: WorldOptions): Promise<World> {
  const services = new Map<string, number>()
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    nodes: 3,
    eventWindow: EVENT_WINDOW,
    resolveService: (namespace, name) => {
      const port = services.get(`${namespace}/${name}`)
      return port === undefined ? undefined : { host: '127.0.0.1', port }
    },
  })
  return new World(new HurriedClock(realTime.speed, realTime.signal), cluster, options, services)
}

/** See {@link createWorld}. */
export class World implements SeamContext {
  readonly seed: number
  readonly clock: WorldClock
  readonly pace: Pace
  /** Ports of this machine by the Service that they serve. */
  readonly services: Map<string, number>
  readonly cluster: EmbeddedCluster
  readonly outside = new OutsideService()
  /** What the operator deals with outside the cluster. */
  readonly outsideWorld: OutsideWorld
  readonly outsideEffects = new OutsideEffects(() => [this.outside, this.outsideWorld])
  readonly log: RunLog
  readonly ledger: Ledger
  readonly user: User
  /** What someone else wrote. */
  readonly foreign = new ForeignMarks()
  /** Edits objects behind the operator's back, for patterns. */
  readonly foreigner: KubeClient
  readonly disturbance: ObservedDisturbance
  /** Called when an instance exits. */
  onInstanceEnd: (instance: RunningInstance, end: InstanceEnd) => void = () => undefined
  /** When the clock started. */
  readonly startMs: number
  readonly #ambient: AmbientSource
  readonly #instances: Instances
  #excess: string | undefined
  /** `undefined` when time is virtual. */
  readonly #realTime: RealTime | undefined
  #isClosed = false

  constructor(
    clock: WorldClock,
    cluster: EmbeddedCluster,
    options: WorldOptions,
    services: Map<string, number> = new Map(),
  ) {
    const { seed, disturbance = {}, operator, limits, numbering } = options
    const { realTime } = operator ?? {}
    this.#realTime = realTime
    this.pace = realTime === undefined ? SIMULATED_PACE : realPace(realTime)
    this.log = new RunLog(realTime === undefined ? undefined : numberedLike(numbering))
    this.services = services
    this.seed = seed
    this.clock = clock
    this.cluster = cluster
    this.startMs = clock.now()
    this.ledger = new Ledger(cluster.api, () => this.elapsedMs)
    const bounds = boundsOf(limits, realTime)
    this.disturbance = new ObservedDisturbance(this.log, disturbance, (request) => this.#isRunaway(bounds, request))
    this.#instances = new Instances({
      seam: this,
      seed,
      outside: (instance, killed) => this.#wayOut(instance, killed),
      onTimer: (instance) => this.disturbance.timerFired(instance),
      onEnd: (instance, end) => this.onInstanceEnd(instance, end),
    })
    const client = this.#client('user', 'user')
    this.foreigner = this.#client('another-client', 'another-client')
    this.#ambient = { clock, random: seededRandom(seed) }
    // What happens outside is the operator's doing: a tool that it runs, a vendor that it calls.
    const place = { clock, random: seededRandom(seed), client: this.#client('operator', 'outside') }
    this.outsideWorld = this.asUser(() => operator?.world?.(place)) ?? this.outside
    this.user = { client, outside: this.outside, world: this.outsideWorld, put: (object) => put(client, object) }
  }

  /** Virtual milliseconds since the start. */
  get elapsedMs(): number {
    return this.clock.now() - this.startMs
  }

  /** Replaces the faults, for disturbances that need the world to act on it. */
  disturb(disturbance: Disturbance): void {
    this.disturbance.faults = disturbance
  }

  /** Runs what users do with the time and the randomness of this world. */
  asUser<R>(action: () => R): R {
    return withAmbient(this.#ambient, action)
  }

  /** Installs the operator's CRDs. */
  async install(operator: OperatorUnderTest): Promise<void> {
    await this.cluster.adopt(await storedDefinitions(operator.crds))
  }

  /** Starts an instance of the operator. */
  start(operator: OperatorUnderTest, options: { readonly election?: boolean } = {}): RunningInstance {
    this.ledger.begin()
    return this.#instances.start(operator, options)
  }

  /** Every instance that was ever started. */
  get instances(): readonly RunningInstance[] {
    return this.#instances.all
  }

  /** The instances that still run. */
  get running(): readonly RunningInstance[] {
    return this.#instances.running
  }

  /** Why all instances were killed: the run would not have ended. */
  get excess(): string | undefined {
    return this.#excess
  }

  /** Who leads, according to the lease that instances compete for. */
  get leaseHolder(): string | undefined {
    return this.#instances.leaseHolder
  }

  /** Whether it has ended: nothing starts in it any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Ends everything. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    // Whoever interrupts an exploration wants processes to clean up what they made outside the cluster.
    if (this.#realTime?.signal?.aborted) await this.#instances.stop(STOP_GRACE_MS)
    await this.#instances.close()
    await this.cluster.stop()
    if (this.#realTime === undefined) ambientPatch.release()
    await this.outsideWorld.close?.()
  }

  record(instance: number, kind: TraceKind, text: string): void {
    this.log.record(this.elapsedMs / this.pace.ofOperator(1), instance, kind, text)
  }

  answered(request: SeamRequest, status: number, body: Uint8Array, sentMs: number): void {
    if (status >= 400) {
      const { message = '' } = parsed(body) as { readonly message?: string }
      this.log.rejected.push({ ...request, status, message })
    }
    if (!request.isWrite || status >= 300) return
    this.log.writes.push({ ...request, atMs: this.elapsedMs, status })
    this.ledger.claim('operator', request, status, parsed(body), sentMs)
  }

  /** Kills everything when the run would never end: a killed instance gets no response, which ends any loop. */
  #isRunaway(bounds: RunBounds, request: SeamRequest): boolean {
    this.#excess ??= bounds.count(this.elapsedMs, () => `${describeRequest(request)}; most often: ${this.#mostOften()}`)
    if (this.#excess === undefined) return false
    for (const instance of this.running) instance.kill()
    return true
  }

  /** What a loop is about. */
  #mostOften(): string {
    const { requests, requestsAtRest, isResting } = this.log
    return mostFrequent((isResting ? requestsAtRest : requests).slice(-LOOKED_AT).map(describeRequest))
  }

  #client(actor: Actor, userAgent: string): KubeClient {
    const { cluster, clock, ledger } = this
    return claimedClient({ cluster, clock, ledger, actor, userAgent })
  }

  #wayOut(instance: number, killed: AbortSignal): Pick<Place, 'outside' | 'world' | 'call'> {
    const call = outsideCall({ world: this, instance, killed })
    return { outside: outsideClient(this.outside, call), world: this.outsideWorld, call }
  }
}

function boundsOf(limits: RunLimits | undefined, realTime: RealTime | undefined): RunBounds {
  if (realTime === undefined) return new RunBounds(limits)
  const { maxRunMs, speed } = realTime
  return new RunBounds(limits ?? { ...EXPLORATION_DEFAULTS, maxRealMs: maxRunMs }, undefined, speed)
}

function numberedLike(numbering: Numbering | undefined): Numbering {
  return { requests: new Occurrences(numbering?.requests), events: new Occurrences(numbering?.events) }
}
