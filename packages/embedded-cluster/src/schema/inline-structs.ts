/**
 * Fields of built-in types that are structs by value and therefore part of every object. The definitions do not contain
 * this.
 */

/** Fields by type; the name of the type is given without its common prefix. */
const fieldsByType: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.v1.MutatingWebhook': ['clientConfig'],
  'admissionregistration.v1.ValidatingWebhook': ['clientConfig'],
  'apps.v1.DaemonSetSpec': ['template', 'updateStrategy'],
  'apps.v1.DeploymentSpec': ['strategy', 'template'],
  'apps.v1.ReplicaSetSpec': ['template'],
  'apps.v1.StatefulSetSpec': ['template', 'updateStrategy'],
  'authentication.v1.SelfSubjectReviewStatus': ['userInfo'],
  'authentication.v1.TokenReviewStatus': ['user'],
  'autoscaling.v1.HorizontalPodAutoscalerSpec': ['scaleTargetRef'],
  'autoscaling.v2.ContainerResourceMetricSource': ['target'],
  'autoscaling.v2.ContainerResourceMetricStatus': ['current'],
  'autoscaling.v2.ExternalMetricSource': ['metric', 'target'],
  'autoscaling.v2.ExternalMetricStatus': ['current', 'metric'],
  'autoscaling.v2.HorizontalPodAutoscalerSpec': ['scaleTargetRef'],
  'autoscaling.v2.ObjectMetricSource': ['describedObject', 'metric', 'target'],
  'autoscaling.v2.ObjectMetricStatus': ['current', 'describedObject', 'metric'],
  'autoscaling.v2.PodsMetricSource': ['metric', 'target'],
  'autoscaling.v2.PodsMetricStatus': ['current', 'metric'],
  'autoscaling.v2.ResourceMetricSource': ['target'],
  'autoscaling.v2.ResourceMetricStatus': ['current'],
  'batch.v1.CronJobSpec': ['jobTemplate'],
  'batch.v1.JobSpec': ['template'],
  'batch.v1.JobTemplateSpec': ['metadata', 'spec'],
  'core.v1.Binding': ['target'],
  'core.v1.Container': ['resources'],
  'core.v1.ContainerStatus': ['lastState', 'state'],
  'core.v1.EphemeralContainer': ['resources'],
  'core.v1.Event': ['involvedObject', 'source'],
  'core.v1.NodeDaemonEndpoints': ['kubeletEndpoint'],
  'core.v1.NodeStatus': ['daemonEndpoints', 'nodeInfo'],
  'core.v1.PersistentVolumeClaimSpec': ['resources'],
  'core.v1.PersistentVolumeClaimTemplate': ['metadata', 'spec'],
  'core.v1.PodTemplate': ['template'],
  'core.v1.PodTemplateSpec': ['metadata', 'spec'],
  'core.v1.PreferredSchedulingTerm': ['preference'],
  'core.v1.ServiceStatus': ['loadBalancer'],
  'core.v1.WeightedPodAffinityTerm': ['podAffinityTerm'],
  'discovery.v1.Endpoint': ['conditions'],
  'events.v1.Event': ['deprecatedSource', 'regarding'],
  'flowcontrol.v1.FlowSchemaSpec': ['priorityLevelConfiguration'],
  'flowcontrol.v1.LimitedPriorityLevelConfiguration': ['limitResponse'],
  'networking.v1.HTTPIngressPath': ['backend'],
  'networking.v1.IngressServiceBackend': ['port'],
  'networking.v1.IngressStatus': ['loadBalancer'],
  'networking.v1.NetworkPolicySpec': ['podSelector'],
  'rbac.v1.ClusterRoleBinding': ['roleRef'],
  'rbac.v1.RoleBinding': ['roleRef'],
  'resource.v1.AllocationResult': ['devices'],
  'resource.v1.ResourceClaimSpec': ['devices'],
  'resource.v1.ResourceClaimTemplateSpec': ['metadata', 'spec'],
  'resource.v1.ResourceSliceSpec': ['pool'],
  'storage.v1.VolumeAttachmentSpec': ['source'],
  'apiextensions.v1.CustomResourceDefinitionSpec': ['names'],
  'apiextensions.v1.CustomResourceDefinitionStatus': ['acceptedNames'],
}

const partsOfEveryKind = ['metadata', 'spec', 'status']

/** The fields of a definition that are always present, possibly as `{}`. */
export function inlineFieldsOf(definition: string, isKind: boolean): readonly string[] {
  const name = definition.split('.').slice(-3).join('.')
  const own = fieldsByType[name] ?? []
  return isKind ? [...partsOfEveryKind, ...own] : own
}
