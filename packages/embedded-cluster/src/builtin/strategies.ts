/** Finds the strategy of a kind. */

import { definitionStrategy } from '../crd/definition-strategy.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import * as core from './core-kinds.ts'
import type { KindStrategy } from './kind-strategy.ts'
import { podStrategy, podTemplateStrategy } from './pods.ts'
import * as policy from './policy-kinds.ts'
import { serviceStrategy } from './services.ts'
import * as workloads from './workloads.ts'

const plain: KindStrategy = {}
const specGeneration: KindStrategy = { generation: ['spec'] }
const returnsDeleted: KindStrategy = { returnsDeletedObject: true }

const strategies: Readonly<Record<string, KindStrategy>> = {
  configmaps: core.configMapStrategy,
  endpoints: core.endpointsStrategy,
  events: core.eventStrategy,
  'events.events.k8s.io': core.eventStrategy,
  limitranges: { createOnUpdate: true },
  namespaces: core.namespaceStrategy,
  nodes: core.nodeStrategy,
  persistentvolumeclaims: core.claimStrategy,
  persistentvolumes: core.volumeStrategy,
  pods: podStrategy,
  podtemplates: podTemplateStrategy,
  replicationcontrollers: workloads.replicationControllerStrategy,
  resourcequotas: returnsDeleted,
  secrets: core.secretStrategy,
  serviceaccounts: core.serviceAccountStrategy,
  services: serviceStrategy,
  'customresourcedefinitions.apiextensions.k8s.io': definitionStrategy,
  'daemonsets.apps': workloads.daemonSetStrategy,
  'deployments.apps': workloads.deploymentStrategy,
  'replicasets.apps': workloads.replicaSetStrategy,
  'statefulsets.apps': workloads.statefulSetStrategy,
  'horizontalpodautoscalers.autoscaling': policy.autoscalerStrategy,
  'cronjobs.batch': workloads.cronJobStrategy,
  'jobs.batch': workloads.jobStrategy,
  'leases.coordination.k8s.io': core.leaseStrategy,
  'endpointslices.discovery.k8s.io': policy.endpointSliceStrategy,
  'ingressclasses.networking.k8s.io': specGeneration,
  'ingresses.networking.k8s.io': policy.ingressStrategy,
  'networkpolicies.networking.k8s.io': policy.networkPolicyStrategy,
  'poddisruptionbudgets.policy': policy.disruptionBudgetStrategy,
  'clusterroles.rbac.authorization.k8s.io': policy.roleStrategy,
  'clusterrolebindings.rbac.authorization.k8s.io': policy.roleBindingStrategy,
  'roles.rbac.authorization.k8s.io': policy.roleStrategy,
  'rolebindings.rbac.authorization.k8s.io': policy.roleBindingStrategy,
  'priorityclasses.scheduling.k8s.io': policy.priorityClassStrategy,
  'storageclasses.storage.k8s.io': policy.storageClassStrategy,
  'csidrivers.storage.k8s.io': policy.csiDriverStrategy,
  'csinodes.storage.k8s.io': returnsDeleted,
  'volumeattachments.storage.k8s.io': returnsDeleted,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': policy.mutatingWebhookStrategy,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': policy.validatingWebhookStrategy,
  'validatingadmissionpolicies.admissionregistration.k8s.io': specGeneration,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': specGeneration,
  'flowschemas.flowcontrol.apiserver.k8s.io': specGeneration,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': specGeneration,
  'deviceclasses.resource.k8s.io': specGeneration,
  'resourceslices.resource.k8s.io': specGeneration,
}

/** The strategy of a kind; kinds that are not listed follow the generic rules alone. */
export function strategyOf(info: ResourceInfo): KindStrategy {
  return (info.custom ? undefined : strategies[groupResource(info)]) ?? plain
}
