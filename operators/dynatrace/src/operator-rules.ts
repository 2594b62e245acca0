/** The rights of the operator that do not follow from what its controllers cache and render. */
import type { ExtraRule } from '@reeve/runtime/operator'
import { DynaKubeCrd } from './api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from './api/edgeconnect/edgeconnect-crd.ts'
import { NODE_CACHE } from './controllers/nodes/node-table.ts'
import { CERTIFICATES_SECRET, WEBHOOK_NAME } from './installed-names.ts'

/** What the rights depend on. */
interface RuleOptions {
  readonly namespace: string
  readonly detectsHostAvailability: boolean
  readonly issuesCertificates?: boolean
}

const CRDS = { apiGroups: ['apiextensions.k8s.io'], resourceNames: [DynaKubeCrd.name, EdgeConnectCrd.name] }

/**
 * The rights that functions of the operator need: before its controllers start, and in those that are not made of
 * components.
 *
 * @example
 * const rules = operatorRules({ namespace: 'dynatrace', detectsHostAvailability: true })
 */
export function operatorRules({
  namespace,
  detectsHostAvailability,
  issuesCertificates = true,
}: RuleOptions): readonly ExtraRule[] {
  return [
    // Of which release they are, and whether former versions are still stored.
    { ...CRDS, resources: ['customresourcedefinitions'], verbs: ['get'] },
    ...storageRules(namespace),
    // Its own pod says whether the Operator Lifecycle Manager installed it.
    { namespace, apiGroups: [''], resources: ['pods'], verbs: ['get'] },
    ...(detectsHostAvailability ? nodeRules(namespace) : []),
    ...(issuesCertificates ? certificateRules(namespace) : []),
  ]
}

/** DynaKubes are written again to have them stored in the latest version; then the CRD says so. */
function storageRules(namespace: string): readonly ExtraRule[] {
  return [
    { namespace, apiGroups: [DynaKubeCrd.group], resources: [DynaKubeCrd.plural], verbs: ['list', 'update'] },
    {
      ...CRDS,
      resources: ['customresourcedefinitions/status'],
      resourceNames: [DynaKubeCrd.name],
      verbs: ['update'],
    },
    // Whether the webhook is ready to convert them.
    { namespace, apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
  ]
}

/** The ConfigMap of nodes belongs to the Deployment of the operator, which is found from its pod. */
function nodeRules(namespace: string): readonly ExtraRule[] {
  return [
    { namespace, apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
    { namespace, apiGroups: [''], resources: ['configmaps'], resourceNames: [NODE_CACHE], verbs: ['update'] },
    { namespace, apiGroups: ['apps'], resources: ['replicasets', 'deployments'], verbs: ['get'] },
    { namespace, apiGroups: ['apps'], resources: ['deployments/finalizers'], verbs: ['update'] },
  ]
}

/** The Secret belongs to the Deployment of the webhook; its authority is written wherever it has to be trusted. */
function certificateRules(namespace: string): readonly ExtraRule[] {
  return [
    { namespace, apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    {
      namespace,
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: [CERTIFICATES_SECRET],
      verbs: ['get', 'update'],
    },
    { namespace, apiGroups: ['apps'], resources: ['deployments/finalizers'], verbs: ['update'] },
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      resourceNames: [WEBHOOK_NAME],
      verbs: ['get', 'update'],
    },
    { ...CRDS, resources: ['customresourcedefinitions'], verbs: ['get', 'update'] },
  ]
}
