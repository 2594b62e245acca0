/** What a controller is made with, as it follows from its definition. */
import type { KubeObject, Resource } from '@reeve/kube'
import type { AnyComponent, Reportable } from '../components/component.ts'
import { ComponentEngine } from '../components/component-engine.ts'
import type { ControllerOptions } from '../controller/controller-options.ts'
import type { Reconcile, ReconcileRequest } from '../controller/reconcile-request.ts'
import { asSource, type MappedSource, type Source } from '../controller/sources.ts'
import {
  type ComponentController,
  type ComponentSet,
  type ControllerDefinition,
  type FunctionController,
  type RenderController,
  withDependencies,
} from './controller-definition.ts'

/**
 * A definition, worked out: a `Controller` is made with it, the roles follow from it, and a plan runs its reconcile
 * function.
 */
export interface DescribedController extends ControllerOptions<Reportable> {
  readonly resource: Resource<Reportable>
  readonly owns: readonly Source<KubeObject>[]
  readonly watches: readonly MappedSource<KubeObject>[]
  readonly reads: readonly Source<KubeObject>[]
  /** Undefined for a controller with its own reconcile function. It remembers what it has seen: of one controller only. */
  readonly engine: ComponentEngine<Reportable, never> | undefined
  readonly isPlannable: boolean
}

/** Describes a controller of the operator of this name. */
export function describeController(
  operator: string,
  definition: ControllerDefinition<Reportable>,
): DescribedController {
  const { resource } = asSource(definition.for)
  const { name = resource.kind.toLowerCase(), owns = [], watches = [], reads = [], namespaces } = definition
  const { concurrency, timeoutMs, resyncMs, backoff, retryRate, onReconcile, failureEvents, eventSource } = definition
  const { engine, reconcile } =
    'reconcile' in definition
      ? { engine: undefined, reconcile: definition.reconcile }
      : withEngine(engineOf(operator, resource, definition))
  return {
    name,
    for: definition.for,
    resource,
    owns: owns.map((source) => asSource(source)),
    watches,
    reads: reads.map((source) => asSource(source)),
    ...{ namespaces, concurrency, timeoutMs, resyncMs, backoff, retryRate, onReconcile, failureEvents, eventSource },
    engine,
    reconcile: definition.before ? checked(definition.before.bind(definition), reconcile) : reconcile,
    isPlannable: definition.plannable ?? isHarmless(definition),
  }
}

/** The reconcile function, after a check of every resource that exists. */
function checked(
  before: (request: ReconcileRequest<Reportable>) => Promise<void>,
  reconcile: Reconcile<Reportable>,
): Reconcile<Reportable> {
  return async (request) => {
    const { object } = request
    if (object !== undefined && object.metadata.deletionTimestamp === undefined) await before(request)
    return reconcile(request)
  }
}

const withEngine = (engine: ComponentEngine<Reportable, never>) => ({ engine, reconcile: engine.reconcile })

/** Without `resolve` a component sees nothing but the cluster. */
function isHarmless(definition: ControllerDefinition<Reportable>): boolean {
  if ('reconcile' in definition) return false
  return componentsOf(definition).list.every(({ resolve }) => resolve === undefined)
}

function engineOf(
  operator: string,
  resource: Resource<Reportable>,
  definition: Exclude<ControllerDefinition<Reportable>, FunctionController<Reportable>>,
): ComponentEngine<Reportable, never> {
  const { owns = [], elsewhere, onDemand, decorate, report } = definition
  const { list, dependencies } = componentsOf(definition)
  return new ComponentEngine<Reportable, never>({
    resource,
    owned: owns.map((source) => asSource(source).resource),
    fieldManager: operator,
    components: list,
    // Of the type that the components expect: both were given together.
    dependencies: dependencies as never,
    finalizer: definition.finalizer ?? `${resource.group}/${operator}`,
    elsewhere,
    onDemand,
    decorate,
    report,
  })
}

function componentsOf(
  definition: ComponentController<Reportable> | RenderController<Reportable>,
): ComponentSet<Reportable> {
  if (!('components' in definition)) {
    const { finalize, inParallel = false } = definition
    const only: AnyComponent<Reportable> = {
      name: 'render',
      render: ({ primary }) => definition.render(primary),
      inParallel,
      ...(finalize && { finalize: (context) => finalize(context) }),
    }
    return withDependencies(undefined, [only])
  }
  const { components } = definition
  return 'list' in components ? components : withDependencies(undefined, components)
}
