/** Reads from a cluster what a plan needs, by list and get only. */
import {
  type Deployment,
  Deployments,
  isForbidden,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ListOptions,
  Namespaces,
  Pods,
  type Resource,
  Secrets,
  type Stored,
} from '@reeve/kube'
import { DynaKubes, EdgeConnects } from '../api/latest.ts'
import { COPIED_SECRETS } from '../controllers/dynakube/components/injection/namespace-objects.ts'
import { ISTIO_KINDS } from '../controllers/dynakube/components/istio/resources.ts'
import { OWNED } from '../controllers/dynakube/controller.ts'
import type { ProcessEnvironment } from '../operator-settings.ts'

/** The Deployment of the operator, as the chart names it. */
const OPERATOR = 'dynatrace-operator'

/** What there is. */
export interface ClusterState {
  readonly objects: readonly Stored<KubeObject>[]
  /** Identifies the cluster: the UID of its namespace kube-system. */
  readonly clusterId: string
  /** Whether it serves DynaKubes and EdgeConnects. */
  readonly hasCrds: boolean
  /** Whether it serves the kinds of Istio. */
  readonly hasIstio: boolean
  /** The operator that runs in the first of the namespaces. */
  readonly operator: RunningOperator | undefined
}

/** An operator as it was installed. */
export interface RunningOperator {
  readonly version: string | undefined
  readonly env: ProcessEnvironment
}

/**
 * Reads the namespaces of resources, and what they have to do with the rest of the cluster.
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
  const list = async <T extends KubeObject>(resource: Resource<T>, options: ListOptions) =>
    (await client.listAll(resource, { ...options, signal })).items.map((item) => typed(resource, item))
  const inEach = <T>(kinds: readonly Resource[], read: (kind: Resource, namespace: string) => Promise<T>) =>
    Promise.all(known.flatMap((namespace) => kinds.map((kind) => read(kind, namespace))))
  const listed = (kind: Resource, namespace: string) => list(kind, { namespace })
  const all = await list(Namespaces, {})
  const known = namespaces.filter((name) => all.some(({ metadata }) => metadata.name === name))
  const [owned, resources, mesh, pods, copies] = await Promise.all([
    inEach(OWNED, listed),
    inEach([DynaKubes, EdgeConnects], (kind, namespace) => unless(isNotFound, () => listed(kind, namespace))),
    // Without the right to list objects of Istio it is unknown whether it is installed.
    inEach(ISTIO_KINDS, (kind, namespace) => unless(isHidden, () => listed(kind, namespace))),
    inEach([Pods], (kind, namespace) => list(kind, { namespace, labelSelector: AGENT_PODS })),
    Promise.all(COPIED_SECRETS.map((name) => list(Secrets, { fieldSelector: `metadata.name=${name}` }))),
  ])
  const found = [...owned, ...resources, ...mesh, ...pods, ...copies].flatMap((items) => items ?? [])
  return {
    objects: [...all, ...found],
    clusterId: all.find(({ metadata }) => metadata.name === 'kube-system')?.metadata.uid ?? '',
    hasCrds: resources.every((items) => items !== undefined),
    hasIstio: mesh.length > 0 && mesh.every((items) => items !== undefined),
    operator: runningOperator(found, known[0]),
  }
}

const AGENT_PODS = 'app.kubernetes.io/managed-by=dynatrace-operator'

const isHidden = (error: unknown): boolean => isNotFound(error) || isForbidden(error)

/** Items of a list need not say what they are. */
function typed<T extends KubeObject>({ group, version, kind }: Resource<T>, item: Stored<T>): Stored<T> {
  return { ...item, apiVersion: group === '' ? version : `${group}/${version}`, kind }
}

/** What was read; `undefined` when it failed as expected. */
async function unless<T>(isExpected: (error: unknown) => boolean, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isExpected(error)) return undefined
    throw error
  }
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
