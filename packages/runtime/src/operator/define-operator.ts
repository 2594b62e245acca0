/** Defines an operator: named and described once, and everything else follows. */
import { type CustomResourceDefinition, connect, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import type { Cache } from '../cache/cache.ts'
import type { AnyComponent, Reportable, ResolveContext } from '../components/component.ts'
import { type ComponentOptions, reconcileComponents } from '../components/reconcile-components.ts'
import type { Waiting } from '../components/waiting.ts'
import { Controller } from '../controller/controller.ts'
import type { ControllerOptions } from '../controller/controller-options.ts'
import type { ReconcileRecord } from '../controller/reconcile-record.ts'
import type { Reconcile } from '../controller/reconcile-request.ts'
import { asSource, type MappedSource, type Source } from '../controller/sources.ts'
import type { DesiredObject } from '../engine/desired-object.ts'
import { createLogger } from '../logging/create-logger.ts'
import type { Logger } from '../logging/logger.ts'
import type { Manager } from '../manager/manager.ts'
import { runUntilSignal } from '../manager/run-until-signal.ts'
import type { BackoffOptions } from '../queue/backoff.ts'
import { RuntimeError } from '../runtime-error.ts'
import type { WebhookRoute } from '../webhooks/webhook-route.ts'
import { addWebhooks, type WebhookOptions, type Webhooks } from './add-webhooks.ts'
import { type OperatorFrameOptions, operatorFrame } from './operator-frame.ts'
import { type ExtraRule, type RbacOptions, type RbacRoles, rolesOf } from './rbac.ts'
import {
  isConverted,
  type WebhookConfigurationOptions,
  type WebhookConfigurations,
  type WebhookLocation,
  webhookConfigurations,
  withConversion,
} from './webhook-manifests.ts'

/** Settings of a controller that have good defaults. */
type Tuning<Primary extends KubeObject> = Pick<
  ControllerOptions<Primary>,
  | 'reads'
  | 'namespaces'
  | 'concurrency'
  | 'timeoutMs'
  | 'resyncMs'
  | 'graceMs'
  | 'backoff'
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
   * Whether `plan` may run it, on a copy of the cluster. Everything that it does outside the cluster must be harmless.
   * @default true for `render` and for components without `resolve`, which cannot act outside the cluster; false
   * otherwise
   */
  readonly plannable?: boolean
}

/** Options of the engine that do not follow from the rest. */
type EngineSettings<Primary extends Reportable, Dependencies> = Pick<
  ComponentOptions<Primary, Dependencies>,
  'elsewhere' | 'onDemand' | 'finalizer' | 'conflicts' | 'report'
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
  /**
   * Undoes what the garbage collector cannot reach before the resource is deleted. Must be idempotent; `waiting` keeps
   * the resource. A failure is shown in the condition `Stalled` and by a Warning event. @default nothing to undo
   */
  finalize?(context: ResolveContext<Primary>): Promise<Waiting | undefined>
}

/** A controller with a reconcile function of its own. */
export interface FunctionController<Primary extends Reportable> extends ControllerBase<Primary> {
  readonly reconcile: Reconcile<Primary>
}

/** One controller of an operator. */
export type ControllerDefinition<Primary extends Reportable> =
  | ComponentController<Primary>
  | RenderController<Primary>
  | FunctionController<Primary>

/** An operator as its author describes it. */
export interface OperatorDefinition<Primaries extends readonly Reportable[]> {
  /**
   * The operator's name: its field manager, the source of its events, the name of its Lease and roles. It must not
   * change once objects exist.
   */
  readonly name: string
  readonly controllers: { readonly [I in keyof Primaries]: ControllerDefinition<Primaries[I]> }
  /**
   * Rights that do not follow from its controllers, such as to impersonate. Part of {@link Operator.rbac}.
   * @default none
   */
  readonly rules?: readonly ExtraRule[]
  /** Served when the operator is created with `webhook`. */
  readonly webhooks?: readonly WebhookRoute[]
  /**
   * The CRDs of its resources, such as `crdManifest(GreetingCrd)`. Known to {@link Operator.crds} and plans.
   * @default none
   */
  readonly crds?: readonly CustomResourceDefinition[]
}

/** How an operator is created. */
export interface OperatorOptions extends OperatorFrameOptions {
  /** Where webhooks listen, and their certificate. Without it none are served. */
  readonly webhook?: WebhookOptions | undefined
  /** Watch these namespaces only. @default all of them */
  readonly namespaces?: readonly string[] | undefined
  /** How many objects each controller reconciles at once. @default as in its definition */
  readonly concurrency?: number | undefined
  /** Delays after failures, for all controllers. @default as in their definitions */
  readonly backoff?: BackoffOptions | undefined
  /** Called with every reconcile after its end. */
  readonly onReconcile?: ((record: ReconcileRecord) => void) | undefined
}

/** An operator before it runs: `manager.run(signal)` starts it. */
export interface CreatedOperator<Primaries extends readonly Reportable[]> {
  readonly manager: Manager<Cache>
  readonly cache: Cache
  readonly controllers: { readonly [I in keyof Primaries]: Controller<Primaries[I]> }
  readonly webhooks: Webhooks | undefined
}

/** Options of an operator in its own process. */
export interface RunOperatorOptions extends Partial<OperatorOptions> {
  /** @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** An operator. */
export interface Operator<Primaries extends readonly Reportable[]> {
  readonly name: string
  /** Creates cache, controllers, events and webhooks, for a process or a test with its own client. */
  create(options: OperatorOptions): CreatedOperator<Primaries>
  /**
   * Connects and runs until the process receives SIGTERM or SIGINT; returns the exit code. Takes part in an election
   * where POD_NAMESPACE is set, as it is inside a cluster.
   */
  run(options?: RunOperatorOptions): Promise<number>
  /** New controllers for each call: for tools that run them by themselves, such as plans. */
  describe(): readonly DescribedController[]
  /** The roles that it needs. */
  rbac(options?: RbacOptions): RbacRoles
  /**
   * The webhook configurations that it needs, from what its webhooks are `for`. The CA bundle is injected by the
   * operator, or by the issuer of the certificate.
   */
  webhookConfigurations(options: WebhookConfigurationOptions): WebhookConfigurations
  /** Its CRDs, with `spec.conversion` for those that its webhooks convert when `location` says where these are. */
  crds(location?: WebhookLocation): readonly CustomResourceDefinition[]
}

/** A controller as a plan needs it. */
export interface DescribedController {
  readonly name: string
  readonly resource: Resource<Reportable>
  readonly owns: readonly Source<KubeObject>[]
  readonly watches: readonly Source<KubeObject>[]
  readonly reads: readonly Source<KubeObject>[]
  /** Kinds that it reads when they are needed. */
  readonly onDemand: readonly Resource[]
  readonly isPlannable: boolean
  readonly reconcile: Reconcile<Reportable>
}

/** The definition of an operator is invalid. Thrown when it is defined. */
export class OperatorDefinitionError extends RuntimeError {
  override readonly name = 'OperatorDefinitionError'

  constructor(message: string) {
    super('OPERATOR_DEFINITION', message)
  }
}

/** Valid as field manager, name of a Lease, and label. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * Describes an operator. Field manager, cache transforms, watches, metrics, Lease, events and RBAC rules follow.
 *
 * *Errors*: {@link OperatorDefinitionError}, `InvalidComponentsError`.
 *
 * @example
 * export const greeter = defineOperator({
 *   name: 'greeter',
 *   controllers: [{ for: Greetings, owns: [{ resource: ConfigMaps, labelSelector: 'app=greeting' }], render }],
 * })
 * process.exitCode = await greeter.run()
 */
export function defineOperator<const Primaries extends readonly Reportable[]>(
  definition: OperatorDefinition<Primaries>,
): Operator<Primaries> {
  const { name, webhooks: routes = [], crds = [] } = definition
  if (!NAME.test(name)) {
    throw new OperatorDefinitionError(`name "${name}": use lower-case letters, digits and dashes, at most 63`)
  }
  // Each is used with the resource it names, whatever its type.
  const definitions = definition.controllers as readonly ControllerDefinition<Reportable>[]
  // New for each operator: the engine remembers what it has seen, and two must not share that.
  const describe = () => definitions.map((one) => settingsOf(name, one))
  const settings = describe()
  const twice = settings.find((one, at) => settings.findIndex((other) => other.name === one.name) !== at)
  if (twice !== undefined) {
    throw new OperatorDefinitionError(`two controllers have the name "${twice.name}"; set name on one of them`)
  }
  const create = (options: OperatorOptions): CreatedOperator<Primaries> => {
    const frame = operatorFrame(name, options)
    const { manager, cache, environment } = frame
    const { namespaces, concurrency, backoff, onReconcile } = options
    const overrides = { namespaces, concurrency, backoff, onReconcile }
    const webhooks = options.webhook && addWebhooks(frame, options.client, routes, options.webhook)
    const controllers = describe().map((one) => new Controller({ ...one, ...given(overrides) }, environment))
    manager.add(...controllers)
    return { manager, cache, webhooks, controllers: controllers as CreatedOperator<Primaries>['controllers'] }
  }
  return {
    name,
    create,
    run: (options = {}) => runOperator(name, create, options),
    describe: () => describe().map((one, index) => describedOf(one, definitions[index])),
    webhookConfigurations: (options) => webhookConfigurations(name, routes, options),
    crds: (location) => (location === undefined ? crds : crds.map((crd) => withConversion(crd, routes, location))),
    rbac: ({ webhook, ...options } = {}) => {
      const customResourceDefinitions = crds.filter((crd) => isConverted(crd, routes)).flatMap(nameOf)
      const serving = webhook && { customResourceDefinitions, ...webhook }
      return rolesOf(name, settings, { ...options, ...(serving && { webhook: serving }) }, definition.rules)
    },
  }
}

/**
 * A kind to watch, with the resources that a change concerns.
 *
 * @example
 * watches: [watch({ resource: Secrets, namespace: 'shop', map: (secret, cache) => usersOf(secret, cache) })]
 */
export function watch<T extends KubeObject>(source: MappedSource<T>): MappedSource<KubeObject> {
  return source as unknown as MappedSource<KubeObject> // it meets only objects of its own resource
}

async function runOperator(
  name: string,
  create: (options: OperatorOptions) => Pick<CreatedOperator<readonly Reportable[]>, 'manager'>,
  { env = process.env, ...options }: RunOperatorOptions,
): Promise<number> {
  const { POD_NAMESPACE: namespace, POD_NAME: instance } = env
  const logger: Logger = options.logger ?? (await createLogger({ level: 'info' }))
  const client = options.client ?? (await connect({ env, fieldManager: name }))
  const election = namespace === undefined ? {} : { leaderElection: { lease: { namespace, name } } }
  try {
    const { manager } = create({ ...election, ...(instance && { instance }), ...options, client, logger })
    return await runUntilSignal((signal) => manager.run(signal), { logger })
  } finally {
    if (options.client === undefined) await client.close()
  }
}

/** Everything a controller is made with, with types erased. */
type ControllerSettings = Omit<ControllerOptions<Reportable>, 'watches'> & {
  readonly watches: readonly MappedSource<KubeObject>[]
}

function settingsOf(operator: string, definition: ControllerDefinition<Reportable>): ControllerSettings {
  const resource = asSource(definition.for).resource
  const name = definition.name ?? resource.kind.toLowerCase()
  const reconcile = 'reconcile' in definition ? definition.reconcile : engineOf(operator, resource, definition)
  const { owns = [], watches = [] } = definition
  const tuned = given({
    reads: definition.reads,
    namespaces: definition.namespaces,
    concurrency: definition.concurrency,
    timeoutMs: definition.timeoutMs,
    resyncMs: definition.resyncMs,
    graceMs: definition.graceMs,
    backoff: definition.backoff,
    onReconcile: definition.onReconcile,
    failureEvents: definition.failureEvents,
  })
  return { ...tuned, name, for: definition.for, owns, watches, reconcile }
}

function describedOf(
  { name, for: primary, owns = [], watches, reads = [], reconcile }: ControllerSettings,
  definition: ControllerDefinition<Reportable> | undefined,
): DescribedController {
  return {
    name,
    resource: asSource(primary).resource,
    owns: owns.map((source) => asSource(source)),
    watches,
    reads: reads.map((source) => asSource(source)),
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
  const { owns = [], elsewhere, onDemand, conflicts, report } = definition
  const { list, dependencies } = componentsOf(definition)
  return reconcileComponents<Reportable, never>({
    resource,
    owned: owns.map((source) => asSource(source).resource),
    fieldManager: operator,
    components: list,
    // Of the type that the components expect: both were given together.
    dependencies: dependencies as never,
    finalizer: definition.finalizer ?? `${resource.group}/${operator}`,
    ...given({ elsewhere, onDemand, conflicts, report }),
  })
}

function componentsOf(
  definition: ComponentController<Reportable> | RenderController<Reportable>,
): ComponentSet<Reportable> {
  if (!('components' in definition)) {
    const { finalize } = definition
    const only: AnyComponent<Reportable> = {
      name: 'render',
      render: ({ primary }) => definition.render(primary),
      ...(finalize && { finalize: (context) => finalize(context) }),
    }
    return withDependencies(undefined, [only])
  }
  const { components } = definition
  return 'list' in components ? components : withDependencies(undefined, components)
}

const nameOf = ({ metadata: { name } }: CustomResourceDefinition): readonly string[] =>
  name === undefined ? [] : [name]

/** The options that were given. */
function given<T extends object>(options: T | undefined): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> }
}
