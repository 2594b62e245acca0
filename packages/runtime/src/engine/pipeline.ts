/** A reconcile as a pipeline: observe → resolve → render → apply → report. */
import type { Clock, KubeClient, KubeObject, ObjectKey, Resource, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import type { Occurrence } from '../events/event-series.ts'
import type { Logger } from '../logging/logger.ts'
import { AcceptedDifferences } from './accepted-differences.ts'
import { type ApplyResult, applyPlan } from './apply.ts'
import type { DesiredObject } from './desired-object.ts'
import { StaleViewError } from './engine-error.ts'
import { FieldTreePool } from './field-tree.ts'
import { planDesired } from './plan.ts'
import { writeStatus } from './write-status.ts'

/** What a stage has at hand. A controller's reconcile context satisfies it. */
export interface PipelineContext {
  readonly key: ObjectKey
  /** Own writes must be visible in `cache` as soon as they return: see `Cache.trackWrites`. */
  readonly client: KubeClient
  readonly cache: CacheReader
  readonly logger: Logger
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Receives the remarks of the report. */
  readonly events?: EventRecorder
  /** Measures a stage for the record of the reconcile. */
  stage?<R>(name: string, run: () => R): R
}

/** What the report stage is told. */
export interface Outcome<Observed, Resolved> {
  /** `undefined` when observing failed. */
  readonly observed: Observed | undefined
  /** `undefined` when resolving failed or was not reached. */
  readonly resolved: Resolved | undefined
  /** What was written; empty when nothing had to be, or when a stage before failed. */
  readonly applied: ApplyResult
  /** Why the pipeline did not get through. */
  readonly failure: Error | undefined
  /** True when the resource is being deleted: nothing was applied. */
  readonly isDeleting: boolean
}

/** What the report stage answers. */
export interface Report<Status> {
  /** Written when it differs; left alone when absent. */
  readonly status?: Status
  /** Recorded after the status is written, so that a repeated reconcile does not repeat them. */
  readonly remarks?: readonly Occurrence[]
  /** When to look again even if nothing happens. */
  readonly requeueAfterMs?: number
}

/** A resource with a status. */
export type Reportable = KubeObject & { readonly status?: unknown }

/** How a resource becomes objects, and their state a status. */
export interface PipelineOptions<Primary extends Reportable, Observed = undefined, Resolved = undefined> {
  readonly resource: Resource<Primary>
  /** The kinds that `render` may return. What is owned of these and not rendered is removed. */
  readonly owned: readonly Resource[]
  readonly fieldManager: string
  /** What to do about fields that somebody else changed. @default 'force': put them back */
  readonly conflicts?: 'force' | 'fail'
  /** Reads what the resource refers to, from the cache only. */
  observe?(context: PipelineContext, object: Stored<Primary>): Observed
  /** Asks the world outside the cluster. */
  resolve?(context: PipelineContext, object: Stored<Primary>, observed: Observed): Promise<Resolved> | Resolved
  /** The objects that should exist. Pure. */
  render(object: Stored<Primary>, observed: Observed, resolved: Resolved): readonly DesiredObject[]
  /** Status and remarks, from the resource as it is now and what became of the other stages. */
  report(
    context: PipelineContext,
    object: Stored<Primary>,
    outcome: Outcome<Observed, Resolved>,
  ): Report<Primary['status']>
}

/** What a reconcile answers to its controller. */
export interface PipelineResult {
  readonly requeueAfterMs?: number
}

const NOTHING_APPLIED: ApplyResult = { changes: [], waitingFor: [] }

/**
 * Builds the reconcile function of a controller.
 *
 * *Guarantees*: stages run in order and each at most once; a failure of any stage is reported before it is thrown, so
 * that users see it in the status; an unchanged resource costs no request. *Errors*: `StaleViewError` when the view was
 * old, which a controller takes for a conflict: it looks again, without an error in log or metrics.
 *
 * *Assumption*: informers of the owned kinds keep the own managedFields entry (`keepOwnFields(fieldManager)`).
 *
 * @example
 * const reconcile = pipeline({
 *   resource: WebApps, owned: [Deployments, Services], fieldManager: 'webapp-operator',
 *   render: (webapp) => [renderDeployment(webapp), renderService(webapp)],
 *   report: ({ cache, key }, webapp) => ({ status: statusOf(webapp, cache.get(Deployments, key)) }),
 * })
 */
export function pipeline<Primary extends Reportable, Observed = undefined, Resolved = undefined>(
  options: PipelineOptions<Primary, Observed, Resolved>,
): (context: PipelineContext) => Promise<PipelineResult> {
  const run = new Run(options)
  return (context) => run.reconcile(context)
}

class Run<Primary extends Reportable, Observed, Resolved> {
  readonly #options: PipelineOptions<Primary, Observed, Resolved>
  readonly #trees = new FieldTreePool()
  readonly #accepted = new AcceptedDifferences()

  constructor(options: PipelineOptions<Primary, Observed, Resolved>) {
    this.#options = options
  }

  async reconcile(context: PipelineContext): Promise<PipelineResult> {
    const { resource } = this.#options
    const object = context.cache.get(resource, context.key)
    // Deleted: the garbage collector takes what it owned.
    if (object === undefined) return {}
    const outcome = await this.#work(context, object)
    const { failure } = outcome
    // An old view says nothing about the resource: there is nothing to report until the newer one is seen.
    if (failure instanceof StaleViewError) throw failure
    const result = await this.#report(context, object, outcome)
    if (failure !== undefined) throw failure
    return result
  }

  async #work(context: PipelineContext, object: Stored<Primary>): Promise<Outcome<Observed, Resolved>> {
    const { observe, resolve, render } = this.#options
    const isDeleting = object.metadata.deletionTimestamp !== undefined
    let observed: Observed | undefined
    let resolved: Resolved | undefined
    let applied = NOTHING_APPLIED
    let failure: Error | undefined
    try {
      // Absent stages have `undefined` as their type, which is what they yield.
      const seen = measure(context, 'observe', () => observe?.(context, object)) as Observed
      observed = seen
      if (!isDeleting) {
        const known = (await measure(context, 'resolve', () => resolve?.(context, object, seen))) as Resolved
        resolved = known
        const desired = measure(context, 'render', () => render(object, seen, known))
        applied = await measure(context, 'apply', () => this.#apply(context, object, desired))
      }
    } catch (error) {
      // A cut reconcile reports nothing: there is no time left for it.
      context.signal.throwIfAborted()
      failure = error instanceof Error ? error : new Error(String(error))
    }
    return { observed, resolved, applied, failure, isDeleting }
  }

  #apply(context: PipelineContext, owner: Stored<Primary>, desired: readonly DesiredObject[]): Promise<ApplyResult> {
    const { owned, fieldManager, conflicts = 'force', resource } = this.#options
    const { client, cache, signal } = context
    const shared = { fieldManager, trees: this.#trees, accepted: this.#accepted }
    const actions = planDesired({ owner, desired, kinds: owned, view: cache, ...shared })
    return applyPlan({ client, owner, ownerResource: resource, actions, conflicts, signal, ...shared })
  }

  #report(
    context: PipelineContext,
    object: Stored<Primary>,
    outcome: Outcome<Observed, Resolved>,
  ): Promise<PipelineResult> {
    const { resource, fieldManager, report } = this.#options
    return measure(context, 'report', async () => {
      const { status, remarks = [], requeueAfterMs } = report(context, object, outcome)
      if (status !== undefined) {
        await writeStatus(context.client, resource, object, status, { signal: context.signal, fieldManager })
      }
      for (const remark of remarks) context.events?.record(object, remark)
      return requeueAfterMs === undefined ? {} : { requeueAfterMs }
    })
  }
}

function measure<R>(context: PipelineContext, name: string, run: () => R): R {
  return context.stage === undefined ? run() : context.stage(name, run)
}
