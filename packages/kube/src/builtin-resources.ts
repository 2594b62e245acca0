/** The common built-in kinds, each as a typed {@link Resource}. */
import type * as kinds from './kinds/index.ts'
import type { KubeObject } from './objects.ts'
import { type Resource, resource } from './resource.ts'

/** `v1` */
export const Pods = namespaced<kinds.Pod>('', 'v1', 'Pod', 'pods')
/** `v1` */
export const Services = namespaced<kinds.Service>('', 'v1', 'Service', 'services')
/** `v1` */
export const ConfigMaps = namespaced<kinds.ConfigMap>('', 'v1', 'ConfigMap', 'configmaps')
/** `v1` */
export const Secrets = namespaced<kinds.Secret>('', 'v1', 'Secret', 'secrets')
/** `v1` */
export const ServiceAccounts = namespaced<kinds.ServiceAccount>('', 'v1', 'ServiceAccount', 'serviceaccounts')
/** `v1`; the events that `kubectl describe` shows. */
export const Events = namespaced<kinds.CoreEvent>('', 'v1', 'Event', 'events')
/** `v1` */
export const PersistentVolumeClaims = namespaced<kinds.PersistentVolumeClaim>(
  '',
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
)
/** `v1` */
export const PersistentVolumes = clusterScoped<kinds.PersistentVolume>(
  '',
  'v1',
  'PersistentVolume',
  'persistentvolumes',
)
/** `v1` */
export const Namespaces = clusterScoped<kinds.Namespace>('', 'v1', 'Namespace', 'namespaces')
/** `v1` */
export const Nodes = clusterScoped<kinds.Node>('', 'v1', 'Node', 'nodes')

/** `apps/v1` */
export const Deployments = namespaced<kinds.Deployment>('apps', 'v1', 'Deployment', 'deployments')
/** `apps/v1` */
export const ReplicaSets = namespaced<kinds.ReplicaSet>('apps', 'v1', 'ReplicaSet', 'replicasets')
/** `apps/v1` */
export const StatefulSets = namespaced<kinds.StatefulSet>('apps', 'v1', 'StatefulSet', 'statefulsets')
/** `apps/v1` */
export const DaemonSets = namespaced<kinds.DaemonSet>('apps', 'v1', 'DaemonSet', 'daemonsets')
/** `apps/v1` */
export const ControllerRevisions = namespaced<kinds.ControllerRevision>(
  'apps',
  'v1',
  'ControllerRevision',
  'controllerrevisions',
)

/** `batch/v1` */
export const Jobs = namespaced<kinds.Job>('batch', 'v1', 'Job', 'jobs')
/** `batch/v1` */
export const CronJobs = namespaced<kinds.CronJob>('batch', 'v1', 'CronJob', 'cronjobs')

/** `networking.k8s.io/v1` */
export const Ingresses = namespaced<kinds.Ingress>('networking.k8s.io', 'v1', 'Ingress', 'ingresses')
/** `networking.k8s.io/v1` */
export const IngressClasses = clusterScoped<kinds.IngressClass>(
  'networking.k8s.io',
  'v1',
  'IngressClass',
  'ingressclasses',
)
/** `networking.k8s.io/v1` */
export const NetworkPolicies = namespaced<kinds.NetworkPolicy>(
  'networking.k8s.io',
  'v1',
  'NetworkPolicy',
  'networkpolicies',
)
/** `discovery.k8s.io/v1` */
export const EndpointSlices = namespaced<kinds.EndpointSlice>(
  'discovery.k8s.io',
  'v1',
  'EndpointSlice',
  'endpointslices',
)

/** `coordination.k8s.io/v1` */
export const Leases = namespaced<kinds.Lease>('coordination.k8s.io', 'v1', 'Lease', 'leases')
/** `events.k8s.io/v1`: the same events as {@link Events} under the newer field names. */
export const EventsV1 = namespaced<kinds.EventV1>('events.k8s.io', 'v1', 'Event', 'events')
/** `policy/v1` */
export const PodDisruptionBudgets = namespaced<kinds.PodDisruptionBudget>(
  'policy',
  'v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
)
/** `autoscaling/v2` */
export const HorizontalPodAutoscalers = namespaced<kinds.HorizontalPodAutoscaler>(
  'autoscaling',
  'v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
/** `scheduling.k8s.io/v1` */
export const PriorityClasses = clusterScoped<kinds.PriorityClass>(
  'scheduling.k8s.io',
  'v1',
  'PriorityClass',
  'priorityclasses',
)

const RBAC = 'rbac.authorization.k8s.io'
/** `rbac.authorization.k8s.io/v1` */
export const Roles = namespaced<kinds.Role>(RBAC, 'v1', 'Role', 'roles')
/** `rbac.authorization.k8s.io/v1` */
export const RoleBindings = namespaced<kinds.RoleBinding>(RBAC, 'v1', 'RoleBinding', 'rolebindings')
/** `rbac.authorization.k8s.io/v1` */
export const ClusterRoles = clusterScoped<kinds.ClusterRole>(RBAC, 'v1', 'ClusterRole', 'clusterroles')
/** `rbac.authorization.k8s.io/v1` */
export const ClusterRoleBindings = clusterScoped<kinds.ClusterRoleBinding>(
  RBAC,
  'v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
)

/** `storage.k8s.io/v1` */
export const StorageClasses = clusterScoped<kinds.StorageClass>(
  'storage.k8s.io',
  'v1',
  'StorageClass',
  'storageclasses',
)
/** `storage.k8s.io/v1` */
export const CsiDrivers = clusterScoped<kinds.CsiDriver>('storage.k8s.io', 'v1', 'CSIDriver', 'csidrivers')
/** `storage.k8s.io/v1` */
export const CsiNodes = clusterScoped<kinds.CsiNode>('storage.k8s.io', 'v1', 'CSINode', 'csinodes')

const ADMISSION = 'admissionregistration.k8s.io'
/** `admissionregistration.k8s.io/v1` */
export const ValidatingWebhookConfigurations = clusterScoped<kinds.ValidatingWebhookConfiguration>(
  ADMISSION,
  'v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
)
/** `admissionregistration.k8s.io/v1` */
export const MutatingWebhookConfigurations = clusterScoped<kinds.MutatingWebhookConfiguration>(
  ADMISSION,
  'v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
)
/** `apiextensions.k8s.io/v1` */
export const CustomResourceDefinitions = clusterScoped<kinds.CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
)
/** `apiregistration.k8s.io/v1` */
export const ApiServices = clusterScoped<kinds.ApiService>('apiregistration.k8s.io', 'v1', 'APIService', 'apiservices')

/** `authentication.k8s.io/v1`; create only. */
export const TokenReviews = clusterScoped<kinds.TokenReview>(
  'authentication.k8s.io',
  'v1',
  'TokenReview',
  'tokenreviews',
)
/** `authorization.k8s.io/v1`; create only. */
export const SubjectAccessReviews = clusterScoped<kinds.SubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
)
/** `authorization.k8s.io/v1`; create only. */
export const SelfSubjectAccessReviews = clusterScoped<kinds.SelfSubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
)

function namespaced<T extends KubeObject>(group: string, version: string, kind: string, plural: string): Resource<T> {
  return resource<T>({ group, version, kind, plural, namespaced: true })
}

function clusterScoped<T extends KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
): Resource<T> {
  return resource<T>({ group, version, kind, plural, namespaced: false })
}
