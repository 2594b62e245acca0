/** Creates the namespace of a tenant, with an account that Helm can act as. */
import { isAlreadyExists, type KubeObject, Namespaces, type Resource, RoleBindings, ServiceAccounts } from '@reeve/kube'
import type { Collector } from '../api/collector.ts'
import { accountOf } from '../tenancy/service-account.ts'
import { isAdministrative } from '../tenancy/target-namespace.ts'
import type { CollectorContext } from './collector-context.ts'

/** Who reports events, owns fields and creates namespaces. */
export const FIELD_MANAGER = 'collector-operator'

const MANAGED_BY = 'app.kubernetes.io/managed-by'
const TENANT_LABEL = 'example.com/tenant'
const LABEL_VALUE = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/

/** Pods that could take over their node are refused. */
const DEFAULT_LABELS = { 'pod-security.kubernetes.io/enforce': 'baseline' }

/**
 * Creates the namespace of a release when it is missing and the Collector is an administrator's. One that somebody else
 * has created is used as it is; one that a crash left without its account gets that.
 */
export async function ensureNamespace(collector: Collector, name: string, context: CollectorContext): Promise<void> {
  const { request, settings, tenancy } = context
  if (!isAdministrative(collector, tenancy)) return
  const { clusterRole, labels: chosen = DEFAULT_LABELS } = settings.createdNamespaces ?? {}
  const found = request.cache.get(Namespaces, { name })
  if (found !== undefined && found.metadata.labels?.[MANAGED_BY] !== FIELD_MANAGER) return
  const { id } = collector.spec.tenant
  const labels = { ...chosen, [MANAGED_BY]: FIELD_MANAGER, ...(LABEL_VALUE.test(id) && { [TENANT_LABEL]: id }) }
  if (found === undefined) {
    await create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }, context)
  }
  if (clusterRole === undefined) return
  const account = accountOf(collector.spec, settings)
  const metadata = { namespace: name, name: account, labels: { [MANAGED_BY]: FIELD_MANAGER } }
  await create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }, context)
  await create(
    RoleBindings,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
      subjects: [{ kind: 'ServiceAccount', namespace: name, name: account }],
    },
    context,
  )
}

async function create<T extends KubeObject>(
  resource: Resource<T>,
  object: T,
  { request }: CollectorContext,
): Promise<void> {
  try {
    await request.client.create(resource, object, { signal: request.signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
