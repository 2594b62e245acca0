/** Reads from a cluster what a plan needs, by list and get only. */
import { type Deployment, Deployments, type KubeClient, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import { readState } from '@reeve/plan'
import { DynaKubes, EdgeConnects } from '../api/latest.ts'
import type { ProcessEnvironment } from '../operator-settings.ts'
import { rehearsedOperator } from './rehearsed-operator.ts'

/** The Deployment of the operator, as the chart names it. */
const OPERATOR = 'dynatrace-operator'

/** The state of a cluster. */
export interface ClusterState {
  readonly objects: readonly Stored<KubeObject>[]
  /** Identifies the cluster: the UID of its namespace kube-system. */
  readonly clusterId: string
  /** Whether it serves DynaKubes and EdgeConnects. */
  readonly hasCrds: boolean
  /** Kinds that it does not serve, or does not allow to list: those of Istio, for example. */
  readonly unserved: readonly Resource[]
  /** The operator that runs in the first of the namespaces. */
  readonly operator: RunningOperator | undefined
}

/** An installed operator. */
export interface RunningOperator {
  readonly version: string | undefined
  readonly env: ProcessEnvironment
}

/**
 * Reads the namespaces of resources, and what their controllers read in the rest of the cluster.
 *
 * *Errors*: the client's; reading needs `get` and `list` on the kinds of the operator in its namespace, and `list` on
 * namespaces and on Secrets everywhere.
 *
 * @example
 * const { objects, clusterId } = await readClusterState(client, ['dynatrace'], { signal })
 */
export async function readClusterState(
  client: KubeClient,
  namespaces: readonly string[],
  { signal }: { readonly signal: AbortSignal },
): Promise<ClusterState> {
  const controllers = rehearsedOperator(ANY_FACTS).describe()
  const { objects, unserved } = await readState(client, controllers, { within: namespaces, signal })
  const named = (name: string) => objects.find(({ kind, metadata }) => kind === 'Namespace' && metadata.name === name)
  return {
    objects,
    clusterId: named('kube-system')?.metadata.uid ?? '',
    hasCrds: !unserved.some((kind) => kind === DynaKubes || kind === EdgeConnects),
    unserved,
    operator: runningOperator(objects, namespaces[0]),
  }
}

/** What is read does not depend on facts about the operator. */
const ANY_FACTS = {
  clusterId: '',
  operator: { version: '', image: '', hasCsiDriver: false },
  detectsHostAvailability: false,
}

function runningOperator(
  objects: readonly Stored<KubeObject>[],
  namespace: string | undefined,
): RunningOperator | undefined {
  const found = objects.find(
    ({ kind, metadata }) => kind === Deployments.kind && metadata.name === OPERATOR && metadata.namespace === namespace,
  )
  if (found === undefined) return undefined
  // Read as a list of Deployments above.
  const { spec, metadata } = found as Stored<Deployment>
  const [container] = spec?.template.spec?.containers ?? []
  const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]))
  const image = env.DT_OPERATOR_IMAGE ?? container?.image
  return {
    version: metadata.labels?.['app.kubernetes.io/version'],
    env: { ...env, ...(image !== undefined && { DT_OPERATOR_IMAGE: image }) },
  }
}
