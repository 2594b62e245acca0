/** The Dynatrace operator as one value: its controllers, events, election and probes in a manager. */
import { type KubeClient, Namespaces } from '@reeve/kube'
import type { Cache } from '@reeve/runtime/cache'
import type { Controller, ReconcileRecord } from '@reeve/runtime/controller'
import type { Manager } from '@reeve/runtime/manager'
import { type OperatorFrameOptions, operatorFrame } from '@reeve/runtime/operator'
import { DynaKubeCrd } from './api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from './api/edgeconnect/edgeconnect-crd.ts'
import type { DynaKube, EdgeConnect } from './api/latest.ts'
import { certificatesController } from './controllers/certificates/certificates-controller.ts'
import { CrdVersionCheck } from './controllers/crd-version/crd-version.ts'
import { dynaKubeController } from './controllers/dynakube/controller.ts'
import type { DynaKubeOptions } from './controllers/dynakube/reconcile.ts'
import { edgeConnectController } from './controllers/edgeconnect/controller.ts'
import type { EdgeConnectOptions } from './controllers/edgeconnect/reconcile.ts'
import { FIELD_MANAGER } from './controllers/field-manager.ts'
import { nodesController } from './controllers/nodes/nodes-controller.ts'

/** Options of {@link createDynatraceOperator}. */
export interface DynatraceOperatorOptions extends OperatorFrameOptions, DynaKubeOptions, EdgeConnectOptions {
  /** The operator's own namespace, and that of the resources it looks after. */
  readonly namespace: string
  /** Whether the operator makes the certificates of its webhooks. @default true */
  readonly issuesCertificates?: boolean
  /** Whether EdgeConnects are served and looked after. @default true */
  readonly looksAfterEdgeConnects?: boolean
  /** The release that the CRDs have to come with. Without it CRDs of any release will do. */
  readonly release?: { readonly version: string | undefined }
  /** The operator's own pod; outside a cluster there is none. */
  readonly podName?: string | undefined
  /** Called after every reconcile. */
  readonly onReconcile?: (record: ReconcileRecord) => void
}

/** The operator before it runs. */
export interface DynatraceOperator {
  readonly manager: Manager<Cache>
  readonly cache: Cache
  readonly dynakubes: Controller<DynaKube>
  /** Not there when EdgeConnects are not looked after. */
  readonly edgeConnects: Controller<EdgeConnect> | undefined
}

/**
 * Puts the operator together; `manager.run(signal)` starts it.
 *
 * @example
 * const { manager } = createDynatraceOperator({ client, namespace, clusterId: await clusterIdOf(client), operator })
 * await manager.run(signal)
 */
export function createDynatraceOperator(options: DynatraceOperatorOptions): DynatraceOperator {
  const { manager, cache, environment: dependencies } = operatorFrame(FIELD_MANAGER, options)
  const checked = (crd: string) => options.release && { crdVersion: new CrdVersionCheck({ crd, ...options.release }) }
  const dynakubes = dynaKubeController({ ...options, ...checked(DynaKubeCrd.name) }, dependencies)
  const edgeConnects =
    (options.looksAfterEdgeConnects ?? true)
      ? edgeConnectController({ ...options, ...checked(EdgeConnectCrd.name) }, dependencies)
      : undefined
  manager.add(dynakubes)
  if (edgeConnects) manager.add(edgeConnects)
  if (options.detectsHostAvailability) manager.add(nodesController(options, dependencies))
  if (options.issuesCertificates ?? true) manager.add(certificatesController(options.namespace, dependencies))
  return { manager, cache, dynakubes, edgeConnects }
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
