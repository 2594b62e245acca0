/** The controller of EdgeConnects: what it watches, and whose reconcile a change means. */
import { ConfigMaps, type KubeObject, type ObjectKey, Secrets, type Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import {
  type Controller,
  type ControllerEnvironment,
  type ControllerOptions,
  controller,
} from '@reeve/runtime/controller'
import { recorderFor } from '@reeve/runtime/events'
import { type EdgeConnect, EdgeConnects } from '../../api/latest.ts'
import { afterCrdVersion, type CrdVersionCheck } from '../crd-version/crd-version.ts'
import { type EdgeConnectOptions, edgeConnectReconcile, OWNED } from './reconcile.ts'

/** The name of the controller, and the source of its events. */
const NAME = 'edgeconnect-controller'

/** Options of {@link edgeConnectController}. */
export interface EdgeConnectControllerOptions extends EdgeConnectOptions {
  /** The namespace of the operator; EdgeConnects elsewhere are left alone. */
  readonly namespace: string
  /** Looked at before each reconcile. Without it CRDs of any release will do. */
  readonly crdVersion?: CrdVersionCheck
  readonly onReconcile?: ControllerOptions<EdgeConnect>['onReconcile']
}

/**
 * Makes the controller. Secrets and ConfigMaps of users that an EdgeConnect names are watched as well.
 *
 * @example
 * manager.add(edgeConnectController({ namespace, clusterId }, { cache, client: manager.client, events }))
 */
export function edgeConnectController(
  options: EdgeConnectControllerOptions,
  dependencies: ControllerEnvironment,
): Controller<EdgeConnect> {
  const { namespace, onReconcile } = options
  return controller(
    {
      name: NAME,
      for: { resource: EdgeConnects, namespace },
      owns: OWNED.map((resource) => ({ resource, namespace })),
      watches: [
        { resource: Secrets, namespace, map: referring },
        { resource: ConfigMaps, namespace, map: referring },
      ],
      reconcile: afterCrdVersion(options.crdVersion, edgeConnectReconcile(options)),
      ...(onReconcile && { onReconcile }),
    },
    { ...dependencies, ...(dependencies.events && { events: recorderFor(NAME, dependencies.events) }) },
  )
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
