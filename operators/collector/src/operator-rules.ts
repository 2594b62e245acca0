/** The rights of the operator that do not follow from what it watches. */
import type { ExtraRule } from '@reeve/runtime/operator'
import type { CollectorSettings } from './settings.ts'
import { allowedAccounts } from './tenancy/service-account.ts'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

/**
 * The rights that follow from settings: which accounts to act as, what to create with a namespace, and which Secrets hold
 * the credentials of chart sources. All other Secrets are read as accounts of tenants.
 *
 * @example
 * const rules = operatorRules(settings)
 */
export function operatorRules(settings: CollectorSettings): readonly ExtraRule[] {
  const accounts = allowedAccounts(settings)
  return [
    { apiGroups: [''], resources: ['namespaces'], verbs: ['create'] },
    {
      apiGroups: [''],
      resources: ['serviceaccounts'],
      verbs: ['impersonate'],
      ...(accounts && { resourceNames: [...new Set(accounts)] }),
    },
    ...accountRules(settings.createdNamespaces?.clusterRole),
    ...credentialRules(settings),
  ]
}

function accountRules(clusterRole: string | undefined): readonly ExtraRule[] {
  if (clusterRole === undefined) return []
  return [
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['create'] },
    { apiGroups: [RBAC_GROUP], resources: ['rolebindings'], verbs: ['create'] },
    { apiGroups: [RBAC_GROUP], resources: ['clusterroles'], resourceNames: [clusterRole], verbs: ['bind'] },
  ]
}

function credentialRules({ clusters }: CollectorSettings): readonly ExtraRule[] {
  const secrets = Object.values(clusters).flatMap(({ credentials }) => credentials ?? [])
  const namespaces = [...new Set(secrets.map(({ namespace }) => namespace))]
  return namespaces.map((namespace) => ({
    namespace,
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [...new Set(secrets.filter((one) => one.namespace === namespace).map(({ name }) => name))],
    verbs: ['get'],
  }))
}
