/** The reconcile engine: components of a resource, its finalizer and its status. */
import { isNotFound, type KubeObject, type ObjectKey, type Resource, type Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import { TerminalError } from '../controller/controller-error.ts'
import type { Engine, Sources } from '../controller/controller-options.ts'
import { FAILURES_TO_ESCALATE } from '../controller/reconcile-ending.ts'
import type { Reconcile, ReconcileRequest, ReconcileResult } from '../controller/reconcile-request.ts'
import { AcceptedDifferences } from '../engine/accepted-differences.ts'
import { type Change, prune } from '../engine/apply.ts'
import { ComparedObjects } from '../engine/compared-objects.ts'
import type { DesiredObject } from '../engine/desired-object.ts'
import { type KindsOnDemand, OnDemandReader } from '../engine/kinds-on-demand.ts'
import { findElsewhere } from '../engine/leftovers.ts'
import { VersionOrder } from '../engine/owner-check.ts'
import type { OwnedElsewhere } from '../engine/ownership.ts'
import type { Occurrence } from '../events/event-series.ts'
import { FieldTreePool } from '../field-ownership/field-tree.ts'
import { addFinalizer, hasFinalizer, removeFinalizer, stillExists } from '../finalizers/finalizer.ts'
import { isJsonEqual } from '../json/json-equal.ts'
import { StaleViewError } from '../runtime-error.ts'
import type { Condition } from '../status/condition.ts'
import { STALLED_CONDITION, type Stall, withStall } from '../status/stalled.ts'
import { StatusConditions } from '../status/status-conditions.ts'
import { UnknownStatusFieldsError, writeStatus } from '../status/write-status.ts'
import type { AnyComponent, AnyOutcome, Reportable } from './component.ts'
import { InvalidComponentsError, inOrderOfNeeds } from './component-order.ts'
import { ComponentRun, type RunResult } from './component-run.ts'
import { type EngineFacts, requireSources } from './engine-sources.ts'
import type { Reporter } from './reporter.ts'

/** The input of the report of a controller. */
export interface ReconcileSummary<Primary extends Reportable> {
  /** The resource, with the status that its components have reported. */
  readonly primary: Stored<Primary>
  /** The resource as it is in the cluster. */
  readonly before: Stored<Primary>
  /** In the order in which they ran. */
  readonly outcomes: readonly AnyOutcome<Primary>[]
  readonly changes: readonly Change[]
  /** Everything that failed, each once. Empty: the resource is as desired, or waits. */
  readonly failures: readonly Error[]
  /** The first failure. */
  readonly failure: Error | undefined
  /** Every component that is enabled is ready. */
  readonly isReady: boolean
  /** The resource is being deleted: components were finalized, not applied. */
  readonly isDeleting: boolean
  readonly key: ObjectKey
  readonly cache: CacheReader
  readonly clock: ReconcileRequest<Primary>['clock']
  readonly logger: ReconcileRequest<Primary>['logger']
}

/** What the report of a controller returns. */
export interface ReconcileReport<Primary extends Reportable> {
  /** Replaces the status that the components have reported. @default that status */
  readonly status?: Primary['status']
  /** Recorded after the status is written, so that a repeated reconcile does not repeat them. */
  readonly events?: readonly Occurrence[]
  /** When to reconcile again although nothing changes. */
  readonly requeueAfterMs?: number
  /** The failures are handled by `requeueAfterMs`: no error, no backoff. @default false */
  readonly isHandled?: boolean
  /** Leaves the status as it is in the cluster. @default false */
  readonly keepsStatus?: boolean
}

/** How a resource is reconciled. */
export type ComponentOptions<Primary extends Reportable, Dependencies = undefined> = EngineOptions<
  Primary,
  Dependencies
> &
  (undefined extends Dependencies
    ? { readonly dependencies?: Dependencies }
    : {
        /** Passed to every component. */
        readonly dependencies: Dependencies
      })

interface EngineOptions<Primary extends Reportable, Dependencies> {
  readonly resource: Resource<Primary>
  /** The kinds that components render. What is owned of these and not rendered is pruned. */
  readonly owned: readonly Resource[]
  /** What components render in other namespaces. @default nothing */
  readonly elsewhere?: readonly OwnedElsewhere[] | undefined
  /** Kinds that not every cluster serves. @default none */
  readonly onDemand?: KindsOnDemand<Primary> | undefined
  readonly fieldManager: string
  readonly components: readonly AnyComponent<Primary, Dependencies>[]
  /** Required as soon as a component finalizes: a qualified name such as `example.com/dns`. */
  readonly finalizer?: string
  /** Applied to every object that a component renders, for what all of them carry, such as an annotation. Pure. */
  decorate?(desired: DesiredObject, primary: Stored<Primary>): DesiredObject
  /** Completes the status, such as a phase, from the outcomes of all components. */
  report?(summary: ReconcileSummary<Primary>, reporter: Reporter<Primary>): ReconcileReport<Primary> | undefined
}

/**
 * The engine of a controller of components.
 *
 * *Guarantees*: a component that fails or waits delays only those that need it; failures are reported in the status before
 * they are thrown; an unchanged resource costs no request; the resource is not deleted before every component has
 * finalized. *Errors* of its reconciles: `StaleViewError` when the view was stale, which a controller treats as a conflict
 * and retries.
 *
 * @example
 * const engine = new ComponentEngine({
 *   resource: WebApps, owned: [Deployments, Services], fieldManager: 'webapp-operator',
 *   components: [deployment, service],
 * })
 * new Controller({ name: 'webapp', for: WebApps, owns: [Deployments, Services], engine, reconcile: engine.reconcile }, environment)
 */
export class ComponentEngine<Primary extends Reportable, Dependencies = undefined> implements Engine, EngineFacts {
  readonly resource: Resource<Primary>
  readonly owned: readonly Resource[]
  readonly elsewhere: readonly Resource[]
  readonly released: readonly Resource[]
  readonly onDemand: readonly Resource[]
  readonly fieldManager: string
  readonly finalizes: boolean
  /** Passed to a controller by itself, or called by the function of one. */
  readonly reconcile: Reconcile<Primary> = (request) => this.#reconcileOrReport(request)
  readonly #options: EngineOptions<Primary, Dependencies>
  /** Undefined only where components expect nothing else. */
  readonly #dependencies: Dependencies
  readonly #components: readonly AnyComponent<Primary, Dependencies>[]
  readonly #memory = {
    trees: new FieldTreePool(),
    accepted: new AcceptedDifferences(),
    compared: new ComparedObjects(),
    versions: new VersionOrder(),
  }
  readonly #onDemand: OnDemandReader<Primary> | undefined
  readonly #conditions: StatusConditions<Primary>

  constructor(options: ComponentOptions<Primary, Dependencies>) {
    const { resource, owned, elsewhere = [], onDemand, fieldManager } = options
    this.resource = resource
    this.owned = owned
    this.elsewhere = elsewhere.map((kind) => kind.resource)
    this.released = elsewhere.filter(({ release }) => release !== undefined).map((kind) => kind.resource)
    this.onDemand = onDemand?.kinds ?? []
    this.fieldManager = fieldManager
    this.#options = options
    this.#dependencies = options.dependencies as Dependencies
    this.#components = inOrderOfNeeds(options.components)
    this.#conditions = new StatusConditions(resource)
    this.#onDemand = onDemand && new OnDemandReader(onDemand)
    const finalizing = this.#components.find(({ finalize }) => finalize !== undefined)
    this.finalizes = finalizing !== undefined
    if (finalizing !== undefined && options.finalizer === undefined) {
      throw new InvalidComponentsError(
        `component "${finalizing.name}" has finalize, but no finalizer is set; set one, such as example.com/${finalizing.name}`,
      )
    }
  }

  requireSources<T extends KubeObject>(sources: Sources<T>): void {
    requireSources(sources, this)
  }

  /** What is remembered of rendered objects names their exact state, so that it cannot mislead. */
  forget(isGone: (key: string) => boolean): void {
    this.#onDemand?.forget(isGone)
  }

  async #reconcileOrReport(request: ReconcileRequest<Primary>): Promise<ReconcileResult> {
    try {
      return await this.#reconcile(request)
    } catch (error) {
      const isStalled = error instanceof StaleViewError && request.attempt >= FAILURES_TO_ESCALATE
      if (isStalled) await this.#reportConflict(request, error.message)
      throw error
    }
  }

  async #reconcile(request: ReconcileRequest<Primary>): Promise<ReconcileResult> {
    const { fieldManager } = this
    const { fieldManager: kept = fieldManager } = request.cache
    // Without its own fields every object would look as if they had been removed, and be written in every reconcile.
    if (kept !== fieldManager) {
      throw new InvalidComponentsError(
        `the cache keeps the managedFields of ${kept === '' ? 'nobody' : kept}, but components compare those of ` +
          `${fieldManager}: create it with new Cache(client, { fieldManager: '${fieldManager}' })`,
      )
    }
    // Not `request.object`: a wrapper may have written to the resource already, such as a finalizer.
    const object = request.cache.get(this.#options.resource, request.key)
    if (object === undefined) return this.#release(request)
    if (object.metadata.deletionTimestamp !== undefined) return this.#delete(request, object)
    const owner = await this.#withFinalizer(request, object)
    const run = await this.#open(request, owner)
    const result = await run.run()
    if (run.isPruned) this.#onDemand?.finish(owner)
    return this.#report(request, run.owner, run.reporter, result)
  }

  /** Reads the resource from the server: the cached one may be what is stale. */
  async #reportConflict({ client, key, clock, logger, signal }: ReconcileRequest<Primary>, message: string) {
    const { resource, fieldManager } = this.#options
    try {
      const latest = await client.get(resource, key, { signal })
      const stall = { reason: 'ConflictPersists', message } as const
      const change = (conditions: readonly Condition[]) => withStall(conditions, stall, clock)
      await this.#conditions.write(latest, change, { client, signal, fieldManager })
    } catch (error) {
      // The conflict itself is what matters, and it is thrown.
      logger.debug({ err: error }, 'could not report the conflict in the status')
    }
  }

  /** The resource is deleted: the garbage collector deletes what it owned, but not what it has in other namespaces. */
  async #release({ key, cache, client, signal }: ReconcileRequest<Primary>): Promise<ReconcileResult> {
    const { elsewhere = [], fieldManager } = this.#options
    for (const leftover of findElsewhere(key, elsewhere, cache)) await prune({ client, fieldManager, signal }, leftover)
    return {}
  }

  async #delete(request: ReconcileRequest<Primary>, object: Stored<Primary>): Promise<ReconcileResult> {
    const { finalizer, resource } = this.#options
    const { client, signal } = request
    const run = await this.#open(request, object, false)
    if (finalizer === undefined || !hasFinalizer(object, finalizer)) {
      return this.#report(request, object, run.reporter, { outcomes: [], changes: [], failures: [] })
    }
    // Decided on the live object, never on the cache: another object may have the name meanwhile, and clean-up goes by
    // name.
    if (!(await stillExists(client, resource, object, { signal }))) return {}
    const result = await run.finalize()
    if (result.outcomes.every(({ state }) => state === 'done')) {
      for (const event of run.reporter.events) request.events.record(object, event)
      await removeFinalizer(client, resource, run.owner, finalizer, { signal })
      return {}
    }
    return this.#report(request, run.owner, run.reporter, result)
  }

  async #withFinalizer(request: ReconcileRequest<Primary>, object: Stored<Primary>): Promise<Stored<Primary>> {
    const { finalizer, resource } = this.#options
    const { client, signal } = request
    const isNeeded = this.#components.some(
      ({ finalize, isEnabled }) => finalize !== undefined && (isEnabled?.(object, this.#dependencies) ?? true),
    )
    if (!isNeeded || finalizer === undefined) return object
    return addFinalizer(client, resource, object, finalizer, { signal })
  }

  async #open(
    request: ReconcileRequest<Primary>,
    owner: Stored<Primary>,
    reads = true,
  ): Promise<ComponentRun<Primary, Dependencies>> {
    const { owned, elsewhere = [], fieldManager, resource, decorate } = this.#options
    const parts = {
      ...this.#memory,
      components: this.#components,
      dependencies: this.#dependencies,
      owned,
      elsewhere,
      onDemand: reads ? await this.#onDemand?.read(owner, request) : undefined,
      fieldManager,
      ownerResource: resource,
      decorate,
    }
    return new ComponentRun(parts, request, owner)
  }

  #report(
    request: ReconcileRequest<Primary>,
    owner: Stored<Primary>,
    reporter: Reporter<Primary>,
    result: RunResult<Primary>,
  ): Promise<ReconcileResult> {
    const { key, cache, clock, logger, events } = request
    const { outcomes, changes, failures } = result
    return request.stage('report', async () => {
      const report =
        this.#options.report?.(
          {
            primary: reporter.primary,
            before: owner,
            outcomes,
            changes,
            failures,
            failure: failures[0],
            isReady: failures.length === 0 && outcomes.every(({ isReady }) => isReady),
            isDeleting: owner.metadata.deletionTimestamp !== undefined,
            key,
            cache,
            clock,
            logger,
          },
          reporter,
        ) ?? {}
      if (!report.keepsStatus) {
        const reported = report.status ?? reporter.status
        const stall = owner.metadata.deletionTimestamp === undefined ? undefined : finalizeStall(failures)
        // The type is the same: only conditions change.
        const status = this.#conditions.change(reported, (conditions) =>
          withStall(conditions, stall, clock, this.#conditions.get(owner, STALLED_CONDITION)),
        )
        await this.#writeStatus(request, owner, status as Primary['status']).catch((error: unknown) => {
          // Only the conditions that the engine added are lost: that is known from now on.
          if (!lacksOnlyConditions(error) || hasConditions(reported)) throw error
          this.#conditions.learn(status, error.written)
        })
      }
      for (const event of [...reporter.events, ...(report.events ?? [])]) events.record(owner, event)
      if (failures.length > 0 && !report.isHandled) throw asOne(failures)
      return { ...requeueOf(outcomes, report.requeueAfterMs), ...(failures.length > 0 && { isBackoff: true }) }
    })
  }

  /**
   * Results are kept although the resource was edited meanwhile: otherwise every edit would repeat all requests outside the
   * cluster.
   */
  async #writeStatus(
    { client, key, signal }: ReconcileRequest<Primary>,
    owner: Stored<Primary>,
    status: Primary['status'],
  ): Promise<void> {
    const { resource, fieldManager } = this.#options
    const options = { signal, fieldManager }
    try {
      this.#conditions.learn(status, await writeStatus(client, resource, owner, status, options))
    } catch (error) {
      if (!(error instanceof StaleViewError)) throw error
      const latest = await client.get(resource, key, { signal }).catch((cause: unknown) => {
        throw isNotFound(cause) ? error : cause
      })
      const isSame = latest.metadata.uid === owner.metadata.uid && isJsonEqual(latest.status ?? {}, owner.status ?? {})
      if (!isSame) throw error
      await writeStatus(client, resource, latest, status, options)
    }
  }
}

function lacksOnlyConditions(error: unknown): error is UnknownStatusFieldsError {
  return (
    error instanceof UnknownStatusFieldsError && error.fields.every((field) => field.startsWith('status.conditions'))
  )
}

function hasConditions(status: unknown): boolean {
  return (status as { readonly conditions?: unknown } | undefined)?.conditions !== undefined
}

function finalizeStall(failures: readonly Error[]): Stall | undefined {
  if (failures.length === 0) return undefined
  return { reason: 'FinalizeFailed', message: failures.map(({ message }) => message).join('; ') }
}

function requeueOf(outcomes: readonly AnyOutcome<Reportable>[], reported: number | undefined): ReconcileResult {
  const delays = [reported, ...outcomes.map(({ waiting }) => waiting?.requeueAfterMs)].filter(
    (delay): delay is number => delay !== undefined,
  )
  return delays.length === 0 ? {} : { requeueAfterMs: Math.min(...delays) }
}

/** One error that keeps all others. It is terminal only when each of them is. */
function asOne(failures: readonly Error[]): Error {
  const [first] = failures
  if (first !== undefined && failures.length === 1) return first
  const message = failures.map((failure) => failure.message).join('; ')
  const all = new AggregateError(failures, message)
  return failures.every((failure) => failure instanceof TerminalError)
    ? new TerminalError(message, { cause: all })
    : all
}
