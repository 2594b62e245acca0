/** The controller of EdgeConnects: what it watches and renders, and whose reconcile a change means. */
import { ConfigMaps, Deployments, type KubeObject, type ObjectKey, Secrets, type Stored } from '@reeve/kube'
import { type CacheReader, watch, withDependencies } from '@reeve/runtime'
import type { ComponentController } from '@reeve/runtime/operator'
import { EdgeConnectCrd } from '../../api/edgeconnect/edgeconnect-crd.ts'
import { type EdgeConnect, EdgeConnects } from '../../api/latest.ts'
import { type ControllerScope, crdVersionCheck } from '../crd-version/crd-version.ts'
import { automation } from './components/automation/automation.ts'
import { image } from './components/image/image.ts'
import { deregistration } from './components/registration/deregistration.ts'
import { registration } from './components/registration/registration.ts'
import { workload } from './components/workload/workload.ts'
import type { EdgeConnectOptions } from './edge-connect-component.ts'
import { reportEdgeConnect } from './report.ts'

/** The name of the controller, and the source of its events. */
const NAME = 'edgeconnect-controller'

/** Keeps an EdgeConnect until the tenant forgot it. The name is that of earlier releases. */
const FINALIZER = 'server'

/**
 * The controller. Secrets and ConfigMaps of users that an EdgeConnect names are watched as well.
 *
 * *Guarantees*: a reconcile may be cut after any write and run again; an EdgeConnect that was created in the tenant is
 * deleted there before the resource is deleted.
 *
 * @example
 * defineOperator({ name, controllers: [edgeConnectController({ namespace, clusterId })] })
 */
export function edgeConnectController(options: EdgeConnectOptions & ControllerScope): ComponentController<EdgeConnect> {
  const { namespace, release, isRehearsal } = options
  const inScope = namespace === undefined ? {} : { namespace }
  return {
    name: NAME,
    eventSource: NAME,
    for: { resource: EdgeConnects, ...inScope },
    owns: [Secrets, Deployments].map((resource) => ({ resource, ...inScope })),
    watches: [
      watch({ resource: Secrets, ...inScope, map: referring }),
      watch({ resource: ConfigMaps, ...inScope, map: referring }),
    ],
    components: withDependencies<EdgeConnect, EdgeConnectOptions>(options, [
      image,
      registration,
      deregistration,
      workload,
      automation,
    ]),
    finalizer: FINALIZER,
    report: reportEdgeConnect,
    ...crdVersionCheck(EdgeConnectCrd.name, release),
    plannable: isRehearsal ?? false,
  }
}

/** The EdgeConnects that name an object. */
function referring({ kind, metadata }: Stored<KubeObject>, cache: CacheReader): readonly ObjectKey[] {
  const { namespace = '', name } = metadata
  const namesIn = ({ spec }: EdgeConnect) =>
    kind === 'ConfigMap' ? [spec.caCertsRef] : [spec.oauth.clientSecret, spec.customPullSecret, spec.proxy?.authRef]
  return cache
    .list(EdgeConnects, { namespace })
    .filter((edgeConnect) => namesIn(edgeConnect).includes(name))
    .map((edgeConnect) => ({ namespace, name: edgeConnect.metadata.name }))
}
