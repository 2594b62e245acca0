/** A feature of a resource: when it is enabled, what it needs, what it renders and how it reports. */
import type { Clock } from '@reeve/http'
import type { Impersonation, KubeClient, KubeObject, ObjectKey, Resource, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import type { RuntimeWatches } from '../controller/runtime-watches.ts'
import type { Change } from '../engine/apply.ts'
import type { DesiredObject } from '../engine/desired-object.ts'
import type { Logger } from '../logging/logger.ts'
import type { Reporter } from './reporter.ts'
import type { Fallback, Waiting } from './waiting.ts'

/** A resource with a status. */
export type Reportable = KubeObject & { readonly status?: unknown }

/** Names an object, in any namespace, or all of a kind. */
export interface ObjectId {
  readonly resource: Resource
  /** @default every object of the kind */
  readonly name?: string
}

/** The part of a client that does not write: writes are the engine's. */
export type ReadingClient = Pick<KubeClient, 'get' | 'list' | 'listAll'>

/** A client that acts as another account. */
export type ImpersonatingClient = Pick<KubeClient, 'get' | 'list' | 'listAll' | 'delete' | 'resourceFor'>

/** What all stages of a component see. */
export interface ComponentInput<Primary extends Reportable, Dependencies> {
  /** The resource, with the status reported so far. */
  readonly primary: Stored<Primary>
  /** What the controller was given from outside: clients of other services, settings. */
  readonly dependencies: Dependencies
  /** The facts of a component that comes before; undefined when it is disabled, waits or failed. */
  factsOf<Facts>(component: Component<Primary, Facts, Dependencies>): Facts | undefined
}

/** What `resolve` and `finalize` work with. */
export interface ResolveContext<Primary extends Reportable, Dependencies = undefined>
  extends ComponentInput<Primary, Dependencies> {
  readonly key: ObjectKey
  /** Reads what the controller watches, own writes included. Costs no request. */
  readonly cache: CacheReader
  /** Reads from the API server, where a cache may be too old for the decision. */
  readonly client: ReadingClient
  /**
   * A client whose requests are limited by the rights of another account. What is done as another account is an
   * external effect: the engine neither compares nor prunes it. Needs the right to impersonate.
   */
  clientAs(account: Impersonation): ImpersonatingClient
  /**
   * Writes what has been reported so far, if it differs: before an external effect that takes long, or that must not
   * happen without being recorded.
   *
   * *Guarantees*: the resource exists with this spec, also when there was nothing to write. *Errors*: `StaleViewError`
   * otherwise.
   */
  writeStatus(): Promise<void>
  /**
   * Confirms with one request that the resource exists as this reconcile sees it and is not being deleted. Call it right
   * before creating something outside the cluster: what an old view creates for a deleted resource is never finalized.
   * *Errors*: `StaleViewError`, which must not be caught: the resource is reconciled again.
   */
  requireLivePrimary(): Promise<void>
  /** Watches that are needed only sometimes, such as of a kind that the resource names. */
  readonly watches: RuntimeWatches
  /** Reports immediately, for what must be in the status even if a later step fails. */
  readonly reporter: Reporter<Primary>
  /** Runs a part of the work and measures it for the record of the reconcile, such as a call that takes minutes. */
  stage<R>(name: string, run: () => R): R
  readonly logger: Logger
  readonly clock: Clock
  /** Pass it to everything that waits. */
  readonly signal: AbortSignal
  /** The outcome of a component that runs before. */
  outcomeOf(component: AnyComponent<Primary, Dependencies>): AnyOutcome<Primary> | undefined
  /** Disposes of a resource when the reconcile ends, such as a client that later components use as well. */
  use<R extends AsyncDisposable>(resource: R): R
}

/** The input of `render`. Pure: no client, no clock, no cache. */
export interface RenderInput<Primary extends Reportable, Facts, Dependencies = undefined>
  extends ComponentInput<Primary, Dependencies> {
  readonly facts: Facts
}

/** The outcome of one desired object. */
export interface ObjectOutcome {
  readonly desired: DesiredObject
  /**
   * `current`: the live object is as desired, written or not; `pending`: it is not ready or is being deleted; `failed`;
   * `skipped`: something before it failed or is pending.
   */
  readonly state: 'current' | 'pending' | 'failed' | 'skipped'
}

/** The outcome of a component. */
export interface ComponentOutcome<Primary extends Reportable, Facts> {
  readonly name: string
  /**
   * `done`: all objects are written; `progressing`: written, but some are not ready; `disabled`: its objects are pruned;
   * `waiting` and `failed`: its objects stay as they are, but for those that were written before the failure.
   */
  readonly state: 'done' | 'progressing' | 'disabled' | 'waiting' | 'failed'
  /** The resource, with the status reported so far. */
  readonly primary: Stored<Primary>
  /** Undefined unless they were resolved. */
  readonly facts: Facts | undefined
  readonly waiting: Waiting | undefined
  /** Set when it failed, and when it continues with facts that could not be refreshed. */
  readonly failure: Error | undefined
  /** The stage in which it failed or waits; `needs`: a component that it needs does. */
  readonly stage: 'needs' | 'resolve' | 'render' | 'apply' | undefined
  readonly objects: readonly ObjectOutcome[]
  readonly changes: readonly Change[]
  /** What {@link Component.isReady} says; true for what is disabled. */
  readonly isReady: boolean
}

/** The outcome of any component. */
export type AnyOutcome<Primary extends Reportable> = ComponentOutcome<Primary, unknown>

/** A component with any facts. */
export type AnyComponent<Primary extends Reportable, Dependencies = undefined> = Component<
  Primary,
  unknown,
  Dependencies
>

/**
 * A feature, with everything about it and nothing about others. Adding one is a file and a line in a list.
 *
 * The engine runs components in the order of their needs, each through its stages: resolve → render → apply → report. So
 * `resolve` sees what the components before it have applied, such as the address of a Service.
 *
 * @example
 * const ingress: Component<WebApp> = {
 *   name: 'ingress',
 *   isEnabled: ({ spec }) => spec.host !== undefined,
 *   render: ({ primary }) => [renderIngress(primary)],
 * }
 */
export interface Component<Primary extends Reportable, Facts = undefined, Dependencies = undefined> {
  /** Unique in its controller; shown in logs, errors, metrics and plans. */
  readonly name: string
  /** Components that run first. While one of them fails or waits, so does this one. */
  readonly needs?: readonly AnyComponent<Primary, Dependencies>[]
  /** Components that run first; their failure does not stop this one. */
  readonly after?: readonly AnyComponent<Primary, Dependencies>[]
  /** Its failure is reported and logged, but is not one of the resource: no error, no retry. @default false */
  readonly isOptional?: boolean
  /**
   * Objects of one wave are written at the same time: none of them needs another one, not even if that is rejected.
   * @default false: one after the other, and after a failure no further one
   */
  readonly inParallel?: boolean
  /** Types of the conditions it reports; removed when it is disabled. Each belongs to one component. */
  readonly conditions?: readonly string[]
  /** Disabled: nothing is resolved or rendered, and its objects are pruned. @default always enabled */
  isEnabled?(primary: Stored<Primary>, dependencies: Dependencies): boolean
  /**
   * Every object that it may render. While it waits or fails, these are kept and everything else is pruned. @default unknown: nothing at all is pruned meanwhile
   */
  mayOwn?(primary: Stored<Primary>): readonly ObjectId[]
  /**
   * Collects the facts for rendering, and acts outside the cluster. Must be idempotent, and cheap when nothing changed: keep
   * the time of the last request in the status. @default no facts
   */
  resolve?(
    context: ResolveContext<Primary, Dependencies>,
  ): Promise<Facts | Waiting | Fallback<Facts>> | Facts | Waiting | Fallback<Facts>
  /** The objects that should exist. Pure. @default none */
  render?(input: RenderInput<Primary, Facts, Dependencies>): readonly DesiredObject[] | Waiting
  /** Whether its part of the resource is ready, from live objects. @default when no object is pending */
  isReady?(context: Pick<ResolveContext<Primary, Dependencies>, 'primary' | 'cache' | 'dependencies'>): boolean
  /** Reports its conditions and its part of the status. Called for every outcome, also `disabled`. */
  report?(outcome: ComponentOutcome<Primary, Facts>, reporter: Reporter<Primary>): void
  /**
   * Undoes what the garbage collector cannot reach before the resource is deleted. Runs in reverse order, also for components
   * that are disabled by then. Must be idempotent. `waiting` keeps the resource.
   */
  finalize?(context: ResolveContext<Primary, Dependencies>): Promise<Waiting | undefined>
}
