/** Definitions of controllers, as the author of an operator writes them. */
import type { KubeObject, Resource, Stored } from '@reeve/kube'
import type { AnyComponent, Reportable, ResolveContext } from '../components/component.ts'
import type { ComponentOptions } from '../components/component-engine.ts'
import type { Waiting } from '../components/waiting.ts'
import type { ControllerOptions } from '../controller/controller-options.ts'
import type { Reconcile, ReconcileRequest } from '../controller/reconcile-request.ts'
import type { MappedSource, Source } from '../controller/sources.ts'
import type { DesiredObject } from '../engine/desired-object.ts'

/** Settings of a controller that have good defaults. */
type Tuning<Primary extends KubeObject> = Pick<
  ControllerOptions<Primary>,
  | 'reads'
  | 'namespaces'
  | 'concurrency'
  | 'timeoutMs'
  | 'resyncMs'
  | 'backoff'
  | 'retryRate'
  | 'onReconcile'
  | 'failureEvents'
>

/** Options of every controller. */
interface ControllerBase<Primary extends Reportable> extends Tuning<Primary> {
  /** Names it in logs and metrics. @default the kind in lower case */
  readonly name?: string
  /** The resource that it reconciles. */
  readonly for: Resource<Primary> | Source<Primary>
  /**
   * The kinds that it renders. A change of an object is a reconcile of its owner; what is owned and no longer rendered
   * is pruned. Give Secrets and ConfigMaps with a selector or a namespace.
   */
  readonly owns?: readonly (Resource | Source<KubeObject>)[]
  /** Other kinds, with the resources that a change concerns: see {@link watch}. */
  readonly watches?: readonly MappedSource<KubeObject>[]
  /**
   * Called before each reconcile, unless the resource is gone or is being deleted. An error fails the reconcile, such as
   * when the installed CRDs do not fit the operator. @default nothing is checked
   */
  before?(request: ReconcileRequest<Primary>): Promise<void>
  /** The source of its events. @default the name of the operator */
  readonly eventSource?: string
  /**
   * Whether `plan` may run it, on a copy of the cluster. Everything that it does outside the cluster must be harmless.
   * @default true for `render` and for components without `resolve`, which cannot act outside the cluster; false
   * otherwise
   */
  readonly plannable?: boolean
}

/** Options of the engine that do not follow from the rest. */
type EngineSettings<Primary extends Reportable, Dependencies> = Pick<
  ComponentOptions<Primary, Dependencies>,
  'elsewhere' | 'onDemand' | 'finalizer' | 'decorate' | 'report'
>

/** A controller of components. */
export interface ComponentController<Primary extends Reportable>
  extends ControllerBase<Primary>,
    EngineSettings<Primary, undefined> {
  /** Its features. For those that work with clients or settings from outside, see {@link withDependencies}. */
  readonly components: readonly AnyComponent<Primary>[] | ComponentSet<Primary>
}

/** Components together with what they depend on. */
export interface ComponentSet<Primary extends Reportable> {
  readonly list: readonly AnyComponent<Primary, never>[]
  readonly dependencies: unknown
}

/**
 * Passes dependencies to every component of a list: clients of other services, settings.
 *
 * @example
 * components: withDependencies(translator, [translation, echo])
 */
export function withDependencies<Primary extends Reportable, Dependencies>(
  dependencies: Dependencies,
  list: readonly AnyComponent<Primary, Dependencies>[],
): ComponentSet<Primary> {
  return { list: list as readonly AnyComponent<Primary, never>[], dependencies }
}

/** A controller of one pure function, for a resource with a single feature. */
export interface RenderController<Primary extends Reportable>
  extends ControllerBase<Primary>,
    EngineSettings<Primary, undefined> {
  /** The objects that should exist. Pure. */
  render(primary: Stored<Primary>): readonly DesiredObject[]
  /** Objects of one wave are written at the same time. See {@link Component.inParallel}. @default false */
  readonly inParallel?: boolean
  /**
   * Undoes what the garbage collector cannot reach before the resource is deleted. Must be idempotent; `waiting` keeps
   * the resource. A failure is shown in the condition `Stalled` and by a Warning event. @default nothing to undo
   */
  finalize?(context: ResolveContext<Primary>): Promise<Waiting | undefined>
}

/**
 * A controller with its own reconcile function. The roles of the operator contain what it caches; other rights that
 * the function needs are `rules` of the operator.
 */
export interface FunctionController<Primary extends Reportable> extends ControllerBase<Primary> {
  readonly reconcile: Reconcile<Primary>
}

/** One controller of an operator. */
export type ControllerDefinition<Primary extends Reportable> =
  | ComponentController<Primary>
  | RenderController<Primary>
  | FunctionController<Primary>

/**
 * A definition whose type does not say of which resource it is: for lists that are put together at run time.
 *
 * @example
 * controllers: [greetings, ...(hasFarewells ? [anyController(farewells)] : [])]
 */
export function anyController<Primary extends Reportable>(
  definition: ControllerDefinition<Primary>,
): ControllerDefinition<Reportable> {
  return definition as unknown as ControllerDefinition<Reportable> // it is called only with objects of its own resource
}
