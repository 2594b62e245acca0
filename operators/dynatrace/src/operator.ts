/** The Dynatrace operator: its controllers, and the rights that do not follow from them. */
import { type KubeClient, Namespaces } from '@reeve/kube'
import { type CreatedOperator, defineOperator, type Operator, type OperatorOptions } from '@reeve/runtime'
import type { Reportable } from '@reeve/runtime/components'
import type { Controller } from '@reeve/runtime/controller'
import { anyController, type OperatorView, type RbacRoles } from '@reeve/runtime/operator'
import { crdManifests } from './api/crd-manifests.ts'
import type { DynaKube } from './api/latest.ts'
import { dynatraceView } from './console/dynatrace-view.ts'
import { TenantCalls } from './console/tenant-calls.ts'
import { certificatesController } from './controllers/certificates/certificates-controller.ts'
import { dynaKubeController } from './controllers/dynakube/controller.ts'
import type { DynaKubeOptions } from './controllers/dynakube/dependencies.ts'
import { edgeConnectController } from './controllers/edgeconnect/controller.ts'
import type { EdgeConnectOptions } from './controllers/edgeconnect/edge-connect-component.ts'
import { nodesController } from './controllers/nodes/nodes-controller.ts'
import { FIELD_MANAGER, LEASE_NAME } from './installed-names.ts'
import { operatorRules } from './operator-rules.ts'
import { createTenantClient } from './tenant/client/tenant-client.ts'

/** What the operator consists of. */
export interface DynatraceDefinition extends DynaKubeOptions, EdgeConnectOptions {
  /** The operator's own namespace, and that of the resources it reconciles. */
  readonly namespace: string
  /** Whether the operator issues the certificates of its webhooks. @default true */
  readonly issuesCertificates?: boolean
  /** Whether EdgeConnects are reconciled. @default true */
  readonly looksAfterEdgeConnects?: boolean
  /** The release that the CRDs have to come with. @default CRDs of any release will do */
  readonly release?: { readonly version: string | undefined }
  /** The operator's own pod; outside a cluster there is none. */
  readonly podName?: string | undefined
  /** What a console shows besides resources. @default nothing */
  readonly views?: readonly OperatorView[]
}

/** Options of {@link createDynatraceOperator}. */
export interface DynatraceOperatorOptions
  extends Omit<OperatorOptions, 'namespaces' | 'webhook'>,
    DynatraceDefinition {}

/** The operator before it runs. */
export interface DynatraceOperator extends Pick<CreatedOperator<[]>, 'manager' | 'cache'> {
  readonly dynakubes: Controller<DynaKube>
}

/** Describes the operator: `create` makes one, `rbac` lists the roles that it needs. */
export function dynatraceOperator(definition: DynatraceDefinition): Operator<readonly [DynaKube, ...Reportable[]]> {
  const { namespace, looksAfterEdgeConnects = true, issuesCertificates = true } = definition
  return defineOperator<readonly [DynaKube, ...Reportable[]]>({
    name: FIELD_MANAGER,
    lease: LEASE_NAME,
    controllers: [
      dynaKubeController(definition),
      ...(looksAfterEdgeConnects ? [anyController(edgeConnectController(definition))] : []),
      ...(definition.detectsHostAvailability ? [anyController(nodesController(definition))] : []),
      ...(issuesCertificates ? [anyController(certificatesController(namespace))] : []),
    ],
    rules: operatorRules(definition),
    crds: crdManifests(namespace),
    views: definition.views ?? [],
  })
}

/**
 * Creates the operator; `manager.run(signal)` starts it.
 *
 * @example
 * const { manager } = createDynatraceOperator({ client, namespace, clusterId: await clusterIdOf(client), operator })
 * await manager.run(signal)
 */
export function createDynatraceOperator(options: DynatraceOperatorOptions): DynatraceOperator {
  const definition = options.observer === undefined ? options : observed(options)
  const { manager, cache, controllers } = dynatraceOperator(definition).create(options)
  return { manager, cache, dynakubes: controllers[0] }
}

/** The operator with what a console shows about its tenants. */
function observed(options: DynatraceOperatorOptions): DynatraceOperatorOptions {
  const calls = new TenantCalls()
  const connect = calls.observed(options.connect ?? createTenantClient)
  return { ...options, connect, views: [dynatraceView(calls, options.namespace)] }
}

/** What the roles of the operator depend on. */
export type RoleSettings = Pick<
  DynatraceDefinition,
  'namespace' | 'detectsHostAvailability' | 'looksAfterEdgeConnects' | 'issuesCertificates'
>

/**
 * The roles that the operator needs.
 *
 * @example
 * const { clusterRole, roles } = dynatraceRoles({ namespace: 'dynatrace', detectsHostAvailability: true })
 */
export function dynatraceRoles(settings: RoleSettings): RbacRoles {
  // No right depends on these.
  const facts = { clusterId: '', operator: { version: '', image: '', hasCsiDriver: false } }
  return dynatraceOperator({ ...facts, ...settings }).rbac({ namespace: settings.namespace })
}

/**
 * What identifies a cluster: the UID of its namespace kube-system, which lives as long as the cluster does.
 *
 * @example
 * const clusterId = await clusterIdOf(client, { signal })
 */
export async function clusterIdOf(
  client: KubeClient,
  options: { readonly signal?: AbortSignal } = {},
): Promise<string> {
  return (await client.get(Namespaces, { name: 'kube-system' }, { ...options, metadataOnly: true })).metadata.uid
}
