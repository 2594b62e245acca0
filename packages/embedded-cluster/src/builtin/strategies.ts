/** Finds the strategy of a kind. */
import { definitionStrategy } from '../crd/definition-strategy.ts'
import { isJsonObject } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { apiVersionOf, groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import { StatusError } from '../status-error.ts'
import * as cluster from './cluster-kinds.ts'
import * as core from './core-kinds.ts'
import { cronJobStrategy, jobStrategy } from './jobs.ts'
import { builtinMessageTypes, type MessageType } from './messages.ts'
import * as network from './network-kinds.ts'
import { podStrategy, podTemplateStrategy } from './pods.ts'
import * as policy from './policy-kinds.ts'
import { DecodeError } from './scalar-forms.ts'
import { serviceStrategy } from './services.ts'
import * as storage from './storage-kinds.ts'
import { toTypedForm } from './typed-form.ts'
import * as workloads from './workloads.ts'
import { zeroStruct } from './zero-values.ts'

const plain: KindStrategy = {}
const specGeneration: KindStrategy = { generation: ['spec'] }

const strategies: Readonly<Record<string, KindStrategy>> = {
  configmaps: core.configMapStrategy,
  endpoints: core.endpointsStrategy,
  events: core.eventStrategy,
  'events.events.k8s.io': core.eventStrategy,
  limitranges: core.limitRangeStrategy,
  namespaces: cluster.namespaceStrategy,
  nodes: cluster.nodeStrategy,
  persistentvolumeclaims: storage.claimStrategy,
  persistentvolumes: storage.volumeStrategy,
  pods: podStrategy,
  podtemplates: podTemplateStrategy,
  replicationcontrollers: workloads.replicationControllerStrategy,
  resourcequotas: core.resourceQuotaStrategy,
  secrets: core.secretStrategy,
  serviceaccounts: core.serviceAccountStrategy,
  services: serviceStrategy,
  'customresourcedefinitions.apiextensions.k8s.io': definitionStrategy,
  'daemonsets.apps': workloads.daemonSetStrategy,
  'deployments.apps': workloads.deploymentStrategy,
  'replicasets.apps': workloads.replicaSetStrategy,
  'statefulsets.apps': workloads.statefulSetStrategy,
  'horizontalpodautoscalers.autoscaling': policy.autoscalerStrategy,
  'cronjobs.batch': cronJobStrategy,
  'jobs.batch': jobStrategy,
  'leases.coordination.k8s.io': network.leaseStrategy,
  'endpointslices.discovery.k8s.io': network.endpointSliceStrategy,
  'ingressclasses.networking.k8s.io': network.ingressClassStrategy,
  'ingresses.networking.k8s.io': network.ingressStrategy,
  'networkpolicies.networking.k8s.io': network.networkPolicyStrategy,
  'poddisruptionbudgets.policy': policy.disruptionBudgetStrategy,
  'clusterroles.rbac.authorization.k8s.io': policy.roleStrategy,
  'clusterrolebindings.rbac.authorization.k8s.io': policy.roleBindingStrategy,
  'roles.rbac.authorization.k8s.io': policy.roleStrategy,
  'rolebindings.rbac.authorization.k8s.io': policy.roleBindingStrategy,
  'priorityclasses.scheduling.k8s.io': policy.priorityClassStrategy,
  'runtimeclasses.node.k8s.io': policy.runtimeClassStrategy,
  'storageclasses.storage.k8s.io': storage.storageClassStrategy,
  'csidrivers.storage.k8s.io': storage.csiDriverStrategy,
  'csinodes.storage.k8s.io': storage.csiNodeStrategy,
  'volumeattachments.storage.k8s.io': storage.volumeAttachmentStrategy,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': policy.mutatingWebhookStrategy,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': policy.validatingWebhookStrategy,
  'validatingadmissionpolicies.admissionregistration.k8s.io': policy.admissionPolicyStrategy,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': policy.admissionPolicyBindingStrategy,
  'flowschemas.flowcontrol.apiserver.k8s.io': specGeneration,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': specGeneration,
  'deviceclasses.resource.k8s.io': specGeneration,
  'resourceslices.resource.k8s.io': specGeneration,
}

/** The strategy of a kind; kinds that are not listed follow the generic rules alone. */
export function strategyOf(info: ResourceInfo): KindStrategy {
  return typedStrategies.of(info)
}

/**
 * Converts objects of every built-in kind to their typed form, before the defaults and after the fields that the server
 * sets.
 */
class TypedStrategies {
  // Derived from the resource alone, so that clusters in one process may share it.
  readonly #known = new WeakMap<ResourceInfo, KindStrategy>()

  of(info: ResourceInfo): KindStrategy {
    const known = this.#known.get(info)
    if (known !== undefined) return known
    const strategy = this.#build(info)
    this.#known.set(info, strategy)
    return strategy
  }

  #build(info: ResourceInfo): KindStrategy {
    if (info.custom) return customStrategy(info)
    const own = strategies[groupResource(info)] ?? plain
    const type = builtinMessageTypes().ofKind(apiVersionOf(info), info.kind)
    return type === undefined ? own : typedStrategy(info, type, own)
  }
}

const typedStrategies = new TypedStrategies()

function typedStrategy(info: ResourceInfo, type: MessageType, own: KindStrategy): KindStrategy {
  return {
    ...own,
    empty: () => zeroStruct(type),
    default(object) {
      decode(info, () => toTypedForm(type, object, { keepsEmptyLists: true }))
      // A frozen spec comes from the store and has its defaults.
      if (!isJsonObject(object.spec) || !Object.isFrozen(object.spec)) own.default?.(object)
      if (isJsonObject(object.status)) own.defaultStatus?.(object.status)
    },
    prepareForCreate(object, context) {
      own.prepareForCreate?.(object, context)
      // Go always encodes certain fields, whatever the initial status is.
      toTypedForm(type, object)
    },
    prepareForUpdate(object, old, context) {
      own.prepareForUpdate?.(object, old, context)
      toTypedForm(type, object)
    },
  }
}

/** In a custom resource only the metadata has a typed form, the same as in every kind. */
function customStrategy(info: ResourceInfo): KindStrategy {
  const type = builtinMessageTypes().ofKind('meta.k8s.io/v1', 'ObjectMeta')
  if (type === undefined) return plain
  return {
    default({ metadata }) {
      if (isJsonObject(metadata)) decode(info, () => toTypedForm(type, metadata))
    },
  }
}

function decode(info: ResourceInfo, read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const subject = `${info.kind} in version "${info.version}" cannot be handled as a ${info.kind}`
    throw new StatusError(400, 'BadRequest', `${subject}: ${error.message}`)
  }
}
