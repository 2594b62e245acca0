/** How an operator and what its users do are described to the exploration. */
import type { AnyCrd } from '@reeve/crd'
import type { Clock, KubeClient, KubeObject } from '@reeve/kube'
import type { LeaderElectionOptions, Logger } from '@reeve/runtime'
import type { OutsideClient, OutsideService } from './outside-service.ts'

/** What one instance of the operator gets besides its client. Everything in it ends when the instance is killed. */
export interface Place {
  readonly clock: Clock
  readonly random: () => number
  /** Lines at level `error` count where the fault is a benign one. */
  readonly logger: Logger
  /** Of this instance; another one after every restart. */
  readonly identity: string
  /** Set when the pattern needs an election: hand it to the manager. */
  readonly leaderElection: Omit<LeaderElectionOptions, 'clock' | 'logger' | 'metrics'> | undefined
  readonly outside: OutsideClient
}

/** An instance before it runs. */
export interface OperatorInstance {
  /** Runs until `signal` aborts; rejects when it cannot go on. */
  run(signal: AbortSignal): Promise<void>
}

/** A JSON object as the cluster stores it. */
export type PlainObject = Readonly<Record<string, unknown>>

/**
 * An operator under test.
 *
 * *Assumptions*: it keeps no state at module level, takes time and chance from its {@link Place}, and talks to
 * nothing but `client` and `place.outside`.
 */
export interface OperatorUnderTest {
  readonly name: string
  /** Installed before the first step; the first one is the resource whose states are walked. */
  readonly crds: readonly AnyCrd[]
  start(place: Place, client: KubeClient): OperatorInstance
  /** Whether it hands `place.leaderElection` on; without it the patterns T10 and T14 run without a lease. @default false */
  readonly hasElection?: boolean
  /**
   * Takes out of an object what may differ between two good runs, beyond uids, versions, times and addresses, which
   * are taken out already. Return `undefined` to leave the object out altogether.
   */
  readonly normalise?: (resource: string, object: PlainObject) => PlainObject | undefined
  /**
   * Changes that somebody makes by hand to owned objects and that the operator must undo, as merge patches. Deletion
   * and the loss of a label are tried for every owned object anyway.
   */
  readonly monkeyEdits?: readonly { readonly resource: string; readonly patch: PlainObject }[]
  /** Values of the first CRD's `spec` that the walk of declared states starts from. @default generated from the schema */
  readonly exampleSpecs?: readonly PlainObject[]
  /** Generated specs for which this is false are not walked, for rules that the schema cannot say. @default all are */
  readonly accepts?: (spec: PlainObject) => boolean
}

/** Through what the steps of a scenario act. */
export interface User {
  readonly client: KubeClient
  readonly outside: OutsideService
  /** Creates an object, or replaces it whatever its version. */
  put(object: KubeObject & PlainObject): Promise<void>
}

/** Something that a user or the outside world does. Afterwards the exploration waits until all is quiet. */
export interface Step {
  readonly name: string
  readonly act: (user: User) => Promise<unknown>
  /** Let hours pass after it and insist that nothing is written. @default only after the last step */
  readonly rest?: boolean
}

/** What a user does, step by step. */
export interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
}

/** An operator with a scenario: what a module exports as `exploration` for the command line. */
export interface Exploration {
  readonly operator: OperatorUnderTest
  readonly scenario: Scenario
}
