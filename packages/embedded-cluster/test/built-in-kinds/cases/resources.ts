/** The resources of the cases. */
import type { ResourcePath } from '../recorded-case.ts'

const core = (kind: string, plural = `${kind.toLowerCase()}s`): ResourcePath => ({ apiVersion: 'v1', kind, plural })
const grouped = (apiVersion: string, kind: string, plural = `${kind.toLowerCase()}s`): ResourcePath => ({
  apiVersion,
  kind,
  plural,
})
const clusterScoped = (resource: ResourcePath): ResourcePath => ({ ...resource, isClusterScoped: true })

export const Pods = core('Pod')
export const PodTemplates = core('PodTemplate')
export const ReplicationControllers = core('ReplicationController')
export const Services = core('Service')
export const Endpoints = core('Endpoints', 'endpoints')
export const ConfigMaps = core('ConfigMap')
export const Secrets = core('Secret')
export const ServiceAccounts = core('ServiceAccount')
export const Events = core('Event')
export const LimitRanges = core('LimitRange')
export const ResourceQuotas = core('ResourceQuota')
export const Claims = core('PersistentVolumeClaim')
export const Volumes = clusterScoped(core('PersistentVolume'))
export const Namespaces = clusterScoped(core('Namespace'))
export const Nodes = clusterScoped(core('Node'))

export const Deployments = grouped('apps/v1', 'Deployment')
export const ReplicaSets = grouped('apps/v1', 'ReplicaSet')
export const StatefulSets = grouped('apps/v1', 'StatefulSet')
export const DaemonSets = grouped('apps/v1', 'DaemonSet')
export const ControllerRevisions = grouped('apps/v1', 'ControllerRevision')
export const Jobs = grouped('batch/v1', 'Job')
export const CronJobs = grouped('batch/v1', 'CronJob')

export const NewEvents = grouped('events.k8s.io/v1', 'Event')
export const Leases = grouped('coordination.k8s.io/v1', 'Lease')
export const EndpointSlices = grouped('discovery.k8s.io/v1', 'EndpointSlice')
export const Ingresses = grouped('networking.k8s.io/v1', 'Ingress', 'ingresses')
export const IngressClasses = clusterScoped(grouped('networking.k8s.io/v1', 'IngressClass', 'ingressclasses'))
export const NetworkPolicies = grouped('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies')
export const Autoscalers = grouped('autoscaling/v2', 'HorizontalPodAutoscaler')
export const AutoscalersV1 = grouped('autoscaling/v1', 'HorizontalPodAutoscaler')
export const Budgets = grouped('policy/v1', 'PodDisruptionBudget')

const rbac = 'rbac.authorization.k8s.io/v1'
export const Roles = grouped(rbac, 'Role')
export const RoleBindings = grouped(rbac, 'RoleBinding')
export const ClusterRoles = clusterScoped(grouped(rbac, 'ClusterRole'))
export const ClusterRoleBindings = clusterScoped(grouped(rbac, 'ClusterRoleBinding'))

const registration = 'admissionregistration.k8s.io/v1'
export const MutatingWebhooks = clusterScoped(grouped(registration, 'MutatingWebhookConfiguration'))
export const ValidatingWebhooks = clusterScoped(grouped(registration, 'ValidatingWebhookConfiguration'))

const storage = 'storage.k8s.io/v1'
export const StorageClasses = clusterScoped(grouped(storage, 'StorageClass', 'storageclasses'))
export const CsiDrivers = clusterScoped(grouped(storage, 'CSIDriver'))
export const CsiNodes = clusterScoped(grouped(storage, 'CSINode'))
export const VolumeAttachments = clusterScoped(grouped(storage, 'VolumeAttachment'))
export const CsiCapacities = grouped(storage, 'CSIStorageCapacity', 'csistoragecapacities')
export const PriorityClasses = clusterScoped(grouped('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses'))
export const RuntimeClasses = clusterScoped(grouped('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses'))
