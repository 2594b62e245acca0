/** What the operator creates for the tenants of administrators: a namespace, and the account of it. */
import { type Namespace, type Resource, RoleBindings, ServiceAccounts } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import type { Collector } from '../api/collector.ts'
import { FIELD_MANAGER } from '../field-manager.ts'
import type { CollectorSettings } from '../settings.ts'
import { accountOf } from './service-account.ts'
import { isAdministrative, type TenancyRules } from './target-namespace.ts'

const MANAGED_BY = 'app.kubernetes.io/managed-by'
const TENANT_LABEL = 'example.com/tenant'
const LABEL_VALUE = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/

/** Rejects pods that could take over their node. */
const DEFAULT_LABELS = { 'pod-security.kubernetes.io/enforce': 'baseline' }

/** What decides about accounts. */
export interface AccountRules {
  readonly settings: CollectorSettings
  readonly tenancy: TenancyRules
}

/** Whether the operator gives a namespace the account of a Collector: it does where it has created the namespace. */
export function mayCreateAccount(
  collector: Collector,
  { metadata }: Namespace,
  { settings, tenancy }: AccountRules,
): boolean {
  const isOwn = metadata.labels?.[MANAGED_BY] === FIELD_MANAGER
  return isOwn && isAdministrative(collector, tenancy) && settings.createdNamespaces?.clusterRole !== undefined
}

/** The namespace of a tenant as it is created. */
export function createdNamespace(
  name: string,
  { spec }: Collector,
  { createdNamespaces }: CollectorSettings,
): Namespace {
  const { labels = DEFAULT_LABELS } = createdNamespaces ?? {}
  const { id } = spec.tenant
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { ...labels, [MANAGED_BY]: FIELD_MANAGER, ...(LABEL_VALUE.test(id) && { [TENANT_LABEL]: id }) },
    },
  }
}

/** The account of a created namespace and its binding; none for other namespaces. */
export function accountObjects(
  collector: Collector,
  namespace: Namespace,
  rules: AccountRules,
): readonly DesiredObject[] {
  const { clusterRole } = rules.settings.createdNamespaces ?? {}
  const { name: target } = namespace.metadata
  if (clusterRole === undefined || target === undefined) return []
  if (!mayCreateAccount(collector, namespace, rules)) return []
  const account = accountOf(collector.spec, rules.settings)
  const metadata = { namespace: target, name: account, labels: { [MANAGED_BY]: FIELD_MANAGER } }
  const binding = {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
    subjects: [{ kind: 'ServiceAccount', namespace: target, name: account }],
  }
  return [
    desired(ServiceAccounts, { metadata }, { createOnly: true }),
    // Only its metadata is ever read.
    desired(RoleBindings as Resource, binding, { createOnly: true }),
  ]
}
