/** How an operator and what its users do are described to the exploration. */
import type { AnyCrd } from '@reeve/crd'
import type { Clock, Transport } from '@reeve/http'
import type { KubeClient, KubeObject } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import type { CacheHealth } from '@reeve/runtime/cache'
import type { LeaderElectionOptions } from '@reeve/runtime/election'
import type { MetricsRegistry } from '@reeve/runtime/metrics'
import type { RealTime } from './pace.ts'
import type { OutsideClient, OutsideService } from './world/outside-service.ts'
import type { OutsideCall, OutsidePlace, OutsideWorld } from './world/outside-world.ts'

/** What one instance of the operator gets besides its client. Everything in it ends when the instance is killed. */
export interface Place<W extends OutsideWorld = OutsideWorld> {
  readonly clock: Clock
  readonly random: () => number
  /** Lines at level `error`, and without the runtime all lines with a field `err` or `error`, count as failures. */
  readonly logger: Logger
  /** These counters must show a dead connection. */
  readonly metrics: MetricsRegistry
  /** Of this instance; another one after every restart. */
  readonly identity: string
  /** Set when the pattern needs an election: pass it to the manager. */
  readonly leaderElection: Omit<LeaderElectionOptions, 'clock' | 'logger' | 'metrics'> | undefined
  /** What the client sends its requests through, for operators that have another client. */
  readonly transport: Transport
  /** Aborts when the instance is killed: nothing that it sends from then on arrives. */
  readonly killed: AbortSignal
  /**
   * Says on which port of this machine the instance serves a Service, such as `system/webhooks`, so that the cluster can
   * call webhooks there. Only in worlds in real time.
   */
  serve(service: string, port: number): void
  /** A small service that always exists, for operators without their own world. */
  readonly outside: OutsideClient
  /** The result of {@link OperatorUnderTest.world} for this run. Reach it through `call` only. */
  readonly world: W
  /** The way to the outside world: every effect outside the cluster has to take it. */
  readonly call: OutsideCall
}

/** An instance before it runs. */
export interface OperatorInstance {
  /** Runs until `signal` aborts; rejects when it fails. */
  run(signal: AbortSignal): Promise<void>
  /** What its health shows of its informers; without it, health is not checked for dead connections. */
  cacheHealth?(): CacheHealth
}

/** A JSON object as the cluster stores it. */
export type PlainObject = Readonly<Record<string, unknown>>

/**
 * An operator under test.
 *
 * *Assumptions*: it keeps no state at module level, takes time and chance from its {@link Place}, and talks to
 * nothing but `client`, `place.outside` and `place.call`.
 */
export interface OperatorUnderTest<W extends OutsideWorld = OutsideWorld> {
  readonly name: string
  /** Installed before the first step; the first one is the resource whose states are walked. */
  readonly crds: readonly AnyCrd[]
  start(place: Place<W>, client: KubeClient): OperatorInstance
  /** Set if the operator keeps real time, as a process does. @default its time is simulated */
  readonly realTime?: RealTime
  /** Makes what the operator finds when it is installed: namespaces, accounts, Secrets of users. Once per run. */
  prepare?(user: User<W>): Promise<void>
  /** Makes the world outside the cluster, once per run; it outlives every crash. @default the small service behind `place.outside` */
  world?(place: OutsidePlace): W
  /**
   * Whether it passes `place.leaderElection` on; without it the patterns `lost-leadership` and `shutdown` run without a
   * lease.
   * @default false
   */
  readonly hasElection?: boolean
  /**
   * Removes from an object what may differ between two correct runs, beyond uids, versions, times and addresses, which
   * are removed already. Return `undefined` to leave the object out altogether.
   */
  readonly normalise?: (resource: string, object: PlainObject) => PlainObject | undefined
  /**
   * Why a declared object has not reached its goal; `undefined` when it has. @default what its `observedGeneration`, a
   * condition such as `Ready`, or its phase says
   */
  readonly goal?: (object: PlainObject) => string | undefined
  /** Messages of errors that reconciles may end with, in any step. @default none */
  readonly expectedErrors?: readonly RegExp[]
  /**
   * Objects of other owners that the operator may change, and in which fields.
   * @default it changes nothing but its own
   */
  readonly sharedObjects?: readonly SharedObject[]
  /**
   * What stays on purpose after the last declared object is deleted, as `secrets default/login`, `namespaces *` or
   * `outside dns *`. @default nothing
   */
  readonly leavesBehind?: readonly string[]
  /**
   * Objects that the operator takes over when they exist already, as `namespaces *` or `secrets default/login`.
   * @default none: an object that it did not create is not changed, and the status reports the conflict
   */
  readonly adopts?: readonly string[]
  /**
   * Changes that a user makes manually to owned objects and that the operator must undo, as merge patches. Deletion
   * and the loss of a label are tried for every owned object anyway.
   * @default one value of each ConfigMap and Secret is changed
   */
  readonly monkeyEdits?: readonly Edit[]
  /**
   * ConfigMaps and Secrets whose values users may replace, such as `secrets default/shop-token`: the operator makes a value once
   * and keeps what it finds. @default none, apart from values that are drawn
   */
  readonly keepsValues?: readonly string[]
  /**
   * Changes that someone else makes, as merge patches. In an owned object: to fields that the operator does not manage
   * and must keep. In a declared object: to its `spec`, reverted a moment later.
   */
  readonly foreignEdits?: readonly Edit[]
  /**
   * Values of the first CRD's `spec`, as full as possible, that can be applied: every part of them is removed
   * and changed, one at a time. @default the fullest that was generated
   */
  readonly exampleSpecs?: readonly PlainObject[]
  /** Values of `spec` that are accepted and cannot be applied: from each of them there must be a way back. */
  readonly errorSpecs?: readonly PlainObject[]
  /**
   * Fields of `spec` whose change shows in no object, such as `spec.hints`. What is below one of them is not checked
   * either. @default none: every field shows somewhere
   */
  readonly inertFields?: readonly string[]
  /** Whether states of the first CRD are walked. @default true */
  readonly walksStates?: boolean
  /** Where they are declared. @default `default` */
  readonly walkedNamespace?: string
  /**
   * Fields of `spec` that random states are generated from, such as `gateway.replicas`, with all that is below them. Of
   * a schema as large as that of a pod, most is of no interest, and what is made up would be refused. @default all of
   * them
   */
  readonly walkedFields?: readonly string[]
  /** Completes a generated spec, where the schema does not express what is needed. @default unchanged */
  readonly complete?: (spec: PlainObject) => PlainObject
  /** Generated specs for which this is false are not walked, for rules that the schema cannot say. @default all are */
  readonly accepts?: (spec: PlainObject) => boolean
}

/** Objects of another owner of which the operator may change a part. */
export interface SharedObject {
  /** `plural` or `plural.group`. */
  readonly resource: string
  /** Such as `metadata.labels`, with everything below; `*` allows everything, deletion included. */
  readonly fields: readonly string[]
}

/** A change to objects of one resource, `plural` or `plural.group`. */
export interface Edit {
  readonly resource: string
  /** A JSON merge patch. */
  readonly patch: PlainObject
}

/** Through what the steps of a scenario act. */
export interface User<W extends OutsideWorld = OutsideWorld> {
  readonly client: KubeClient
  /** The small service that is always there. */
  readonly outside: OutsideService
  /** The operator's own outside world, where it has one. */
  readonly world: W
  /** Creates an object, or replaces it regardless of its version. */
  put(object: KubeObject & PlainObject): Promise<void>
}

/** Something that a user or the outside world does. Afterwards the exploration waits until nothing is written. */
export interface Step<W extends OutsideWorld = OutsideWorld> {
  readonly name: string
  act(user: User<W>): Promise<unknown>
  /** Let hours pass after it and insist that nothing is written. @default only after the last step */
  readonly rest?: boolean
  /**
   * Where it leads: `settled` when every declared object reaches its goal, `unsettled` when one of them cannot, and must
   * report it, `any` to skip the check. @default 'settled'
   */
  readonly goal?: 'settled' | 'unsettled' | 'any'
  /** Messages of errors that reconciles may end with from this step to the next. @default none */
  readonly expectedErrors?: readonly RegExp[]
  /**
   * Objects of the operator, such as `secrets default/login`, that could not be recreated in the situation that this step
   * leads to: `manual-changes` does not delete them until the next one. @default none
   */
  readonly irreplaceable?: readonly string[]
}

/** What a user does, step by step. */
export interface Scenario<W extends OutsideWorld = OutsideWorld> {
  readonly name: string
  readonly steps: readonly Step<W>[]
}

/** An operator with a scenario: what a module exports as `exploration` for the command line. */
export interface Exploration<W extends OutsideWorld = OutsideWorld> {
  readonly operator: OperatorUnderTest<W>
  readonly scenario: Scenario<W>
}
