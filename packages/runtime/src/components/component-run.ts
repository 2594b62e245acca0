/** Takes the components of one resource through their stages: resolve → render → apply → report. */
import { isRecord } from '@reeve/http'
import type { Impersonation, KubeClient, Resource, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import { interceptClient } from '../client/intercept.ts'
import type { ReconcileRequest } from '../controller/reconcile-request.ts'
import { type Change, prune } from '../engine/apply.ts'
import { checkDesired, type DesiredObject, InvalidDesiredStateError } from '../engine/desired-object.ts'
import type { OnDemandView } from '../engine/kinds-on-demand.ts'
import { findLeftovers } from '../engine/leftovers.ts'
import { OwnerCheck, type VersionOrder } from '../engine/owner-check.ts'
import { requireLive } from '../engine/require-live.ts'
import { explainFetch } from '../fetch-failure.ts'
import { isJsonEqual } from '../json/json-equal.ts'
import { StaleViewError } from '../runtime-error.ts'
import { writeStatus } from '../status/write-status.ts'
import { type ApplyContext, applyObjects } from './apply-component.ts'
import type {
  AnyComponent,
  AnyOutcome,
  Component,
  ComponentInput,
  ComponentOutcome,
  ImpersonatingClient,
  ReadingClient,
  Reportable,
  ResolveContext,
} from './component.ts'
import { Disposables } from './disposables.ts'
import { Reporter } from './reporter.ts'
import { Fallback, Waiting, waiting } from './waiting.ts'

/** The parts of a run that outlive it. */
export type RunParts<Primary extends Reportable, Dependencies> = Omit<
  ApplyContext,
  'client' | 'owner' | 'ownerCheck' | 'view' | 'inParallel' | 'signal'
> & {
  readonly ownerResource: Resource<Primary>
  readonly versions: VersionOrder
  /** In the order of their needs. */
  readonly components: readonly AnyComponent<Primary, Dependencies>[]
  readonly dependencies: Dependencies
  readonly owned: readonly Resource[]
  readonly onDemand: OnDemandView | undefined
  readonly decorate: ((desired: DesiredObject, primary: Stored<Primary>) => DesiredObject) | undefined
}

/** The outcome of all components. */
export interface RunResult<Primary extends Reportable> {
  readonly outcomes: readonly AnyOutcome<Primary>[]
  readonly changes: readonly Change[]
  /** Each once, although several components may fail with it. */
  readonly failures: readonly Error[]
}

type Stage = NonNullable<AnyOutcome<Reportable>['stage']>

/** One reconcile of one resource. */
export class ComponentRun<Primary extends Reportable, Dependencies> {
  readonly reporter: Reporter<Primary>
  readonly #parts: RunParts<Primary, Dependencies>
  readonly #request: ReconcileRequest<Primary>
  #owner: Stored<Primary>
  readonly #outcomes = new Map<AnyComponent<Primary, Dependencies>, AnyOutcome<Primary>>()
  readonly #desired: DesiredObject[] = []
  readonly #changes: Change[] = []
  readonly #disposables = new Disposables()
  /** One for all components: a read of the owner is enough for the whole reconcile. */
  #ownerCheck: OwnerCheck | undefined
  #isPruned = false

  constructor(parts: RunParts<Primary, Dependencies>, request: ReconcileRequest<Primary>, owner: Stored<Primary>) {
    this.#parts = parts
    this.#request = request
    this.#owner = owner
    this.reporter = new Reporter(owner, request.clock)
  }

  /** The resource as the cluster has it, with the status that was written last. */
  get owner(): Stored<Primary> {
    return this.#owner
  }

  /** Whether everything that no component renders has been deleted. */
  get isPruned(): boolean {
    return this.#isPruned
  }

  /**
   * *Errors*: `StaleViewError` when the view was stale, and the reason of the signal. The failure of a component is
   * in its outcome.
   */
  async run(): Promise<RunResult<Primary>> {
    await using _ = this.#disposables
    for (const component of this.#parts.components) {
      const outcome = await this.#take(component)
      this.#outcomes.set(component, outcome)
      this.#changes.push(...outcome.changes)
      if (outcome.state === 'disabled') this.reporter.removeConditions(...(component.conditions ?? []))
      component.report?.(outcome, this.reporter)
    }
    const leftovers = await this.#request.stage('prune', () => this.#prune())
    const failures = [...this.#outcomes].flatMap(([component, outcome]) => this.#failureOf(component, outcome))
    const outcomes = [...this.#outcomes.values()]
    return { outcomes, changes: this.#changes, failures: [...new Set([...failures, ...leftovers])] }
  }

  #failureOf(
    { name, isOptional = false }: AnyComponent<Primary, Dependencies>,
    { failure, stage }: AnyOutcome<Primary>,
  ): readonly Error[] {
    if (failure === undefined) return []
    if (!isOptional) return [failure]
    // The failure of what it needs is reported there.
    if (stage !== 'needs') this.#request.logger.warn({ component: name, err: failure }, 'optional component failed')
    return []
  }

  /**
   * Finalizes in reverse order. While a component waits or fails, those that it needs are not finalized.
   */
  async finalize(): Promise<RunResult<Primary>> {
    await using _ = this.#disposables
    const held = new Set<AnyComponent<Primary, Dependencies>>()
    for (const component of [...this.#parts.components].reverse()) {
      const outcome = held.has(component)
        ? this.#outcome(component, { state: 'waiting', waiting: waiting('components that need it to be finalized') })
        : await this.#finalizeOne(component)
      this.#outcomes.set(component, outcome)
      if (outcome.state !== 'done') for (const need of component.needs ?? []) held.add(need)
      if (outcome.state !== 'done') component.report?.(outcome, this.reporter)
    }
    const outcomes = [...this.#outcomes.values()]
    return { outcomes, changes: [], failures: [...new Set(outcomes.flatMap(({ failure }) => failure ?? []))] }
  }

  async #finalizeOne(component: AnyComponent<Primary, Dependencies>): Promise<AnyOutcome<Primary>> {
    try {
      const result = await this.#request.stage('finalize', () => component.finalize?.(this.#context()))
      if (result instanceof Waiting) return this.#outcome(component, { state: 'waiting', waiting: result })
      return this.#outcome(component, { state: 'done' })
    } catch (error) {
      return this.#outcome(component, { state: 'failed', failure: this.#asFailure(error) })
    }
  }

  async #take(component: AnyComponent<Primary, Dependencies>): Promise<AnyOutcome<Primary>> {
    const { primary } = this.reporter
    if (!(component.isEnabled?.(primary, this.#parts.dependencies) ?? true)) {
      return this.#outcome(component, { state: 'disabled', isReady: true })
    }
    const blocked = this.#blockedBy(component)
    if (blocked !== undefined) return this.#outcome(component, { ...blocked, stage: 'needs' })
    let stage: Stage = 'resolve'
    try {
      const resolved = await this.#request.stage(stage, () => component.resolve?.(this.#context()))
      if (resolved instanceof Waiting) return this.#outcome(component, { state: 'waiting', waiting: resolved, stage })
      const { facts, failure } = resolved instanceof Fallback ? resolved : { facts: resolved, failure: undefined }
      stage = 'render'
      const input = { ...this.#input(), facts }
      const rendered = this.#request.stage(stage, () => (component.render === undefined ? [] : component.render(input)))
      if (rendered instanceof Waiting) {
        return this.#outcome(component, { state: 'waiting', waiting: rendered, facts, stage })
      }
      const wanted = this.#decorated(requireRendered(component.name, rendered))
      checkDesired([...this.#desired, ...wanted])
      this.#desired.push(...wanted)
      stage = 'apply'
      const applied = await this.#request.stage(stage, () => this.#apply(wanted, component.inParallel ?? false))
      const isPending = applied.objects.some(({ state }) => state === 'pending')
      return this.#outcome(component, {
        facts,
        objects: applied.objects,
        changes: applied.changes,
        ...(applied.failure !== undefined
          ? { state: 'failed', stage, failure: applied.failure }
          : { state: isPending ? 'progressing' : 'done', ...(failure && { stage: 'resolve', failure }) }),
      })
    } catch (error) {
      return this.#outcome(component, { state: 'failed', failure: this.#asFailure(error), stage })
    }
  }

  /** The failure as a value, unless the reconcile cannot continue. */
  #asFailure(error: unknown): Error {
    this.#request.signal.throwIfAborted()
    if (!(error instanceof Error) || error instanceof StaleViewError) throw error
    return explainFetch(error)
  }

  #blockedBy({ needs = [] }: AnyComponent<Primary, Dependencies>): Partial<AnyOutcome<Primary>> | undefined {
    const outcomes = needs.flatMap((need) => this.#outcomes.get(need) ?? [])
    const failed = outcomes.find(({ state }) => state === 'failed')
    if (failed !== undefined) return { state: 'failed', failure: failed.failure }
    const held = outcomes.find(({ state }) => state === 'waiting' || state === 'progressing')
    if (held === undefined) return undefined
    return { state: 'waiting', waiting: held.waiting ?? waiting(`${held.name} to be ready`) }
  }

  #outcome(
    component: AnyComponent<Primary, Dependencies>,
    given: Partial<ComponentOutcome<Primary, unknown>>,
  ): AnyOutcome<Primary> {
    const { primary } = this.reporter
    const { cache } = this.#request
    const { dependencies } = this.#parts
    const { state = 'done', objects = [] } = given
    return {
      name: component.name,
      state,
      primary,
      facts: undefined,
      waiting: undefined,
      failure: undefined,
      stage: undefined,
      objects,
      changes: [],
      isReady:
        component.isReady?.({ primary, cache, dependencies }) ?? (state === 'done' && given.failure === undefined),
      ...given,
    }
  }

  #input(): ComponentInput<Primary, Dependencies> {
    return {
      primary: this.reporter.primary,
      dependencies: this.#parts.dependencies,
      factsOf: <Facts>(component: Component<Primary, Facts, Dependencies>) =>
        // An outcome contains the facts of the component it belongs to.
        this.#outcomes.get(component as AnyComponent<Primary, Dependencies>)?.facts as Facts | undefined,
    }
  }

  #context(): ResolveContext<Primary, Dependencies> {
    const { key, cache, client, logger, clock, signal, watches } = this.#request
    const { reporter } = this
    return {
      ...this.#input(),
      // What a component reports during its stages is part of the resource from then on.
      get primary() {
        return reporter.primary
      },
      key,
      cache,
      client: readingPartOf(client),
      clientAs: (account) => impersonating(client, account),
      writeStatus: () => this.#writeStatus(),
      requireLivePrimary: () => requireLive(client, this.#parts.ownerResource, this.#owner, { signal }),
      watches,
      stage: (name, run) => this.#request.stage(name, run),
      reporter,
      logger,
      clock,
      signal,
      outcomeOf: (component) => this.#outcomes.get(component),
      use: (resource) => this.#disposables.use(resource),
    }
  }

  async #writeStatus(): Promise<void> {
    const { client, signal } = this.#request
    const { fieldManager } = this.#parts
    const { status } = this.reporter
    if (isJsonEqual(this.#owner.status, status)) {
      // A write would fail on a stale view. Without one the view may be that of a resource that no longer exists, whose
      // status says what it said before the same effect long ago. A resource that is being deleted was read already.
      if (this.#owner.metadata.deletionTimestamp !== undefined) return
      return requireLive(client, this.#parts.ownerResource, this.#owner, { signal })
    }
    const written = await writeStatus(client, this.#parts.ownerResource, this.#owner, status, { signal, fieldManager })
    // Deleted: an effect that must be recorded first must not happen.
    if (written === undefined) throw new StaleViewError(this.#owner)
    this.#owner = written
  }

  #decorated(rendered: readonly DesiredObject[]): readonly DesiredObject[] {
    const { decorate } = this.#parts
    if (decorate === undefined) return rendered
    return rendered.map((desired) => {
      const decorated = decorate(desired, this.#owner)
      if (isDesired(decorated)) return decorated
      throw new InvalidDesiredStateError(`decorate returned ${kindOf(decorated)}; return the desired object`)
    })
  }

  async #apply(desired: readonly DesiredObject[], inParallel: boolean) {
    const { client, signal } = this.#request
    const { onDemand, ownerResource: resource, versions, decorate: _, ...parts } = this.#parts
    const view = this.#view
    const owner = this.#owner
    this.#ownerCheck ??= new OwnerCheck({ client, resource, owner, view, versions, signal })
    const ownerCheck = this.#ownerCheck
    const applied = await applyObjects(desired, { ...parts, client, owner, ownerCheck, view, inParallel, signal })
    onDemand?.record(applied.changes)
    return applied
  }

  get #view(): CacheReader {
    const { cache } = this.#request
    return this.#parts.onDemand?.over(cache) ?? cache
  }

  /** Deletes what no component renders anymore; returns the failures. */
  async #prune(): Promise<readonly Error[]> {
    const retained = this.#retained()
    if (retained === 'everything') return []
    this.#isPruned = true
    const { client, signal } = this.#request
    const { owned, onDemand, elsewhere, fieldManager } = this.#parts
    const kinds = [...owned, ...(onDemand?.isReadable ? onDemand.kinds : [])]
    const leftovers = findLeftovers({ owner: this.#owner, desired: this.#desired, kinds, elsewhere, view: this.#view })
    const failures: Error[] = []
    for (const leftover of leftovers) {
      const type = typeName(leftover.resource)
      if (retained.has(type) || retained.has(`${type}/${leftover.live.metadata.name}`)) continue
      // Fields identify the owner of an object: they stay until everything else is deleted.
      if (leftover.release !== undefined && failures.length > 0) continue
      try {
        const change = await prune({ client, fieldManager, signal }, leftover)
        this.#changes.push(change)
        onDemand?.record([change])
      } catch (error) {
        this.#isPruned = false
        failures.push(this.#asFailure(error))
      }
    }
    return failures
  }

  /** What must not be pruned, because it may still be needed. */
  #retained(): ReadonlySet<string> | 'everything' {
    const names: string[] = []
    for (const [component, { state, objects }] of this.#outcomes) {
      // Until the desired objects are ready, the previous ones may still be needed.
      if (objects.some((object) => object.state === 'pending' && object.desired.isReady !== undefined))
        return 'everything'
      if (state !== 'waiting' && state !== 'failed') continue
      if (component.mayOwn === undefined) return 'everything'
      const owned = component.mayOwn(this.#owner)
      names.push(
        ...owned.map(({ resource, name }) =>
          name === undefined ? typeName(resource) : `${typeName(resource)}/${name}`,
        ),
      )
    }
    return new Set(names)
  }
}

/**
 * Types are not checked in JavaScript, and casts circumvent them. Taking anything but a list for "no objects" would prune
 * all that the component has.
 */
function requireRendered(component: string, rendered: unknown): readonly DesiredObject[] {
  const fail = (what: string, remedy: string): never => {
    throw new InvalidDesiredStateError(`component "${component}": render returned ${what}; ${remedy}`)
  }
  if (rendered instanceof Promise) fail('a promise', 'make it synchronous, and read in resolve what it needs')
  if (!Array.isArray(rendered)) {
    return fail(kindOf(rendered), 'return an array of desired objects, an empty one for none, or waiting(…)')
  }
  // Unlike a method of arrays, the loop visits holes.
  for (const [index, entry] of rendered.entries()) {
    if (!isDesired(entry))
      fail(`an array with ${kindOf(entry)} at [${index}]`, 'leave it out, or make it with desired(…)')
  }
  return rendered
}

function isDesired(value: unknown): boolean {
  return isRecord(value) && isRecord(value.resource) && isRecord(value.object)
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null || typeof value === 'boolean') return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const typeName = ({ group, kind }: Resource): string => `${kind}.${group}`

function impersonating(client: KubeClient, impersonate: Impersonation): ImpersonatingClient {
  return interceptClient(client, [{ around: (_call, options, send) => send({ ...options, impersonate }) }])
}

function readingPartOf(client: KubeClient): ReadingClient {
  return {
    get: (of, key, options) => client.get(of, key, options),
    list: (of, options) => client.list(of, options),
    listAll: (of, options) => client.listAll(of, options),
  }
}
