/** What a controller is made with, as it follows from its definition. */
import type { KubeObject, Resource } from '@reeve/kube'
import type { AnyComponent, Reportable } from '../components/component.ts'
import { reconcileComponents } from '../components/reconcile-components.ts'
import type { ControllerOptions } from '../controller/controller-options.ts'
import type { Reconcile, ReconcileRequest } from '../controller/reconcile-request.ts'
import { asSource, type Source } from '../controller/sources.ts'
import {
  type ComponentController,
  type ComponentSet,
  type ControllerDefinition,
  type FunctionController,
  type RenderController,
  withDependencies,
} from './controller-definition.ts'

/** A controller as a plan needs it. */
export interface DescribedController {
  readonly name: string
  readonly resource: Resource<Reportable>
  readonly owns: readonly Source<KubeObject>[]
  readonly watches: readonly Source<KubeObject>[]
  readonly reads: readonly Source<KubeObject>[]
  /** Kinds that it renders in other namespaces. */
  readonly elsewhere: readonly Resource[]
  /** Kinds that it reads when they are needed. */
  readonly onDemand: readonly Resource[]
  readonly isPlannable: boolean
  readonly reconcile: Reconcile<Reportable>
}

/** Everything a controller is made with, with types erased. */
export type ControllerSettings = ControllerOptions<Reportable> & { readonly eventSource?: string }

/** The settings of a controller, with its own reconcile function: the engine remembers what it has seen. */
export function settingsOf(operator: string, definition: ControllerDefinition<Reportable>): ControllerSettings {
  const resource = asSource(definition.for).resource
  const name = definition.name ?? resource.kind.toLowerCase()
  const reconcile = 'reconcile' in definition ? definition.reconcile : engineOf(operator, resource, definition)
  const before = definition.before?.bind(definition)
  const { owns = [], watches = [] } = definition
  const tuned = given({
    reads: definition.reads,
    namespaces: definition.namespaces,
    concurrency: definition.concurrency,
    timeoutMs: definition.timeoutMs,
    resyncMs: definition.resyncMs,
    backoff: definition.backoff,
    retryRate: definition.retryRate,
    onReconcile: definition.onReconcile,
    failureEvents: definition.failureEvents,
    eventSource: definition.eventSource,
  })
  return {
    ...tuned,
    name,
    for: definition.for,
    owns,
    watches,
    reconcile: before ? checked(before, reconcile) : reconcile,
  }
}

/** The reconcile function, after a check of every resource that exists. */
function checked(
  before: (request: ReconcileRequest<Reportable>) => Promise<void>,
  reconcile: Reconcile<Reportable>,
): Reconcile<Reportable> {
  const { engine } = reconcile
  const both: Reconcile<Reportable> = async (request) => {
    const { object } = request
    if (object !== undefined && object.metadata.deletionTimestamp === undefined) await before(request)
    return reconcile(request)
  }
  return engine === undefined ? both : Object.assign(both, { engine })
}

/** The controller as a plan needs it. */
export function describedOf(
  { name, for: primary, owns = [], watches = [], reads = [], reconcile }: ControllerSettings,
  definition: ControllerDefinition<Reportable> | undefined,
): DescribedController {
  return {
    name,
    resource: asSource(primary).resource,
    owns: owns.map((source) => asSource(source)),
    watches,
    reads: reads.map((source) => asSource(source)),
    elsewhere: reconcile.engine?.elsewhere ?? [],
    onDemand: reconcile.engine?.onDemand ?? [],
    isPlannable: definition?.plannable ?? (definition !== undefined && isHarmless(definition)),
    reconcile,
  }
}

/** Without `resolve` a component sees nothing but the cluster. */
function isHarmless(definition: ControllerDefinition<Reportable>): boolean {
  if ('reconcile' in definition) return false
  return componentsOf(definition).list.every(({ resolve }) => resolve === undefined)
}

function engineOf(
  operator: string,
  resource: Resource<Reportable>,
  definition: Exclude<ControllerDefinition<Reportable>, FunctionController<Reportable>>,
): Reconcile<Reportable> {
  const { owns = [], elsewhere, onDemand, decorate, report } = definition
  const { list, dependencies } = componentsOf(definition)
  return reconcileComponents<Reportable, never>({
    resource,
    owned: owns.map((source) => asSource(source).resource),
    fieldManager: operator,
    components: list,
    // Of the type that the components expect: both were given together.
    dependencies: dependencies as never,
    finalizer: definition.finalizer ?? `${resource.group}/${operator}`,
    ...given({ elsewhere, onDemand, decorate, report }),
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

/** The options that were given. */
export function given<T extends object>(options: T | undefined): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> }
}
