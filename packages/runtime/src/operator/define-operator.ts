/** Defines an operator: named and described once, and everything else follows. */
import { type CustomResourceDefinition, connect } from '@reeve/kube'
import type { Cache } from '../cache/cache.ts'
import type { Reportable } from '../components/component.ts'
import { findDuplicate } from '../components/component-order.ts'
import { Controller } from '../controller/controller.ts'
import type { ReconcileRecord } from '../controller/reconcile-record.ts'
import { CrdUpgrade } from '../crds/upgrade-crds.ts'
import { createLogger } from '../logging/create-logger.ts'
import type { Logger } from '../logging/logger.ts'
import type { Manager } from '../manager/manager.ts'
import { runUntilSignal } from '../manager/run-until-signal.ts'
import type { BackoffOptions } from '../queue/backoff.ts'
import { RuntimeError } from '../runtime-error.ts'
import type { WebhookRoute } from '../webhooks/webhook-route.ts'
import { addWebhooks, type WebhookOptions, type Webhooks } from './add-webhooks.ts'
import type { ControllerDefinition } from './controller-definition.ts'
import { type DescribedController, describeController } from './describe-controller.ts'
import { type OperatorFrameOptions, operatorFrame } from './operator-frame.ts'
import type { OperatorView } from './operator-view.ts'
import { type ExtraRule, type RbacOptions, type RbacRoles, rolesOf } from './rbac.ts'
import {
  ConversionLocationError,
  isConverted,
  type WebhookConfigurationOptions,
  type WebhookConfigurations,
  type WebhookLocation,
  webhookConfigurations,
  withConversion,
} from './webhook-manifests.ts'

/** An operator as its author describes it. */
export interface OperatorDefinition<Primaries extends readonly Reportable[]> {
  /**
   * The operator's name: its field manager, the source of its events, the name of its Lease and roles. It must not
   * change once objects exist.
   */
  readonly name: string
  /** The name of the Lease of its leader. @default the name of the operator */
  readonly lease?: string
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
  /** What a console shows about it besides its resources. @default nothing */
  readonly views?: readonly OperatorView[]
}

/** How an operator is created. */
export interface OperatorOptions extends OperatorFrameOptions {
  /** Where webhooks listen, and their certificate. Without it none are served. */
  readonly webhook?: WebhookOptions | undefined
  /** Watch these namespaces only. @default all of them */
  readonly namespaces?: readonly string[] | undefined
  /** How many objects each controller reconciles concurrently. @default as in its definition */
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
  /**
   * Divides the objects among all replicas, in this many shards, where it would otherwise take part in an election.
   * @default one replica leads and works on all objects
   */
  readonly shards?: number
  /** @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** An operator. */
export interface Operator<Primaries extends readonly Reportable[]> {
  readonly name: string
  /** As in its definition: for tools that call them in process, such as tests and plans. */
  readonly webhooks: readonly WebhookRoute[]
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
  /**
   * Its CRDs, with `spec.conversion` for those that its webhooks convert.
   *
   * *Errors*: `ConversionLocationError` if its webhooks convert one, and no location says where they are.
   */
  crds(location?: WebhookLocation): readonly CustomResourceDefinition[]
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
 * Describes an operator. Field manager, watches, metrics, Lease, events and RBAC rules follow.
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
  const { name, lease = name, webhooks: routes = [], crds = [], views = [] } = definition
  if (!NAME.test(name)) {
    throw new OperatorDefinitionError(`name "${name}": use lower-case letters, digits and dashes, at most 63`)
  }
  // Each is used with the resource it names, whatever its type.
  const definitions = definition.controllers as readonly ControllerDefinition<Reportable>[]
  // New for each operator: the engine remembers what it has seen, and two must not share that.
  const describe = () => definitions.map((one) => describeController(name, one))
  const described = describe()
  const twice = findDuplicate(described.map((one) => [one.name, one.name]))
  if (twice !== undefined) {
    throw new OperatorDefinitionError(`two controllers have the name "${twice.name}"; set name on one of them`)
  }
  const customResourceDefinitions = crds.filter((crd) => isConverted(crd, routes)).flatMap(nameOf)
  const crdsAt = (location?: WebhookLocation) => {
    if (location !== undefined) return crds.map((crd) => withConversion(crd, routes, location))
    if (customResourceDefinitions.length > 0) throw new ConversionLocationError(customResourceDefinitions)
    return crds
  }
  const trustedBy = ({ inject, ...webhook }: WebhookOptions): WebhookOptions => ({
    ...webhook,
    inject: { customResourceDefinitions, ...inject },
  })
  const create = (options: OperatorOptions): CreatedOperator<Primaries> => {
    const frame = operatorFrame(name, options)
    const { manager, cache, environment } = frame
    const { observer } = options
    if (options.upgradeCrds !== undefined) {
      const { version, location } = options.upgradeCrds
      manager.add(new CrdUpgrade(options.client, crdsAt(location), { version, ...frame.shared }))
    }
    const webhooks = options.webhook && addWebhooks(frame, options.client, routes, trustedBy(options.webhook))
    const controllers = describe().map((one) => {
      const { namespaces = one.namespaces, concurrency = one.concurrency, backoff = one.backoff } = options
      const onReconcile = observed(options, one.onReconcile)
      return new Controller({ ...one, namespaces, concurrency, backoff, onReconcile }, environment)
    })
    manager.add(...controllers)
    if (observer !== undefined) {
      const parts = { name, client: options.client, cache, manager, controllers, views }
      manager.add(...observer.created({ ...parts, describe, crds: crdsAt, webhooks: routes }))
    }
    return { manager, cache, webhooks, controllers: controllers as CreatedOperator<Primaries>['controllers'] }
  }
  return {
    name,
    webhooks: routes,
    create,
    run: (options = {}) => runOperator({ name, lease }, create, options),
    describe,
    webhookConfigurations: (options) => webhookConfigurations(name, routes, options),
    crds: crdsAt,
    rbac: ({ webhook, ...options } = {}) => {
      const serving = webhook && { customResourceDefinitions, ...webhook }
      const own = { name, lease, crds: crds.flatMap(nameOf) }
      return rolesOf(own, described, { ...options, ...(serving && { webhook: serving }) }, definition.rules)
    },
  }
}

type OnReconcile = (record: ReconcileRecord) => void

/** The hook of the options instead of that of the definition, and the observer besides. */
function observed({ onReconcile, observer }: OperatorOptions, own: OnReconcile | undefined): OnReconcile | undefined {
  const hook = onReconcile ?? own
  if (observer === undefined) return hook
  return (record) => {
    observer.reconciled(record)
    hook?.(record)
  }
}

async function runOperator(
  { name, lease }: { readonly name: string; readonly lease: string },
  create: (options: OperatorOptions) => Pick<CreatedOperator<readonly Reportable[]>, 'manager'>,
  { env = process.env, shards, ...options }: RunOperatorOptions,
): Promise<number> {
  const { POD_NAMESPACE: namespace, POD_NAME: instance } = env
  const logger: Logger = options.logger ?? (await createLogger({ level: 'info' }))
  const client = options.client ?? (await connect({ env, fieldManager: name }))
  const election = namespace === undefined ? {} : competition({ namespace, name: lease }, shards)
  try {
    const { manager } = create({ ...election, ...(instance && { instance }), ...options, client, logger })
    return await runUntilSignal((signal) => manager.run(signal), { logger })
  } finally {
    if (options.client === undefined) await client.close()
  }
}

/** How replicas share the work. */
function competition(lease: { readonly namespace: string; readonly name: string }, shards: number | undefined) {
  return shards === undefined ? { leaderElection: { lease } } : { sharding: { lease, shards } }
}

const nameOf = ({ metadata: { name } }: CustomResourceDefinition): readonly string[] =>
  name === undefined ? [] : [name]
