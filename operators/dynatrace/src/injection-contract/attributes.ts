/** Attributes of pods and containers, as the webhook passes them to the bootstrapper. */

/** Attributes of a pod with a special meaning, in the order in which they are passed; all others are the user's. */
export const POD_ATTRIBUTES = [
  'k8s.pod.name',
  'k8s.pod.uid',
  'k8s.node.name',
  'k8s.namespace.name',
  'k8s.workload.kind',
  'k8s.workload.name',
  'k8s.cluster.uid',
  'k8s.cluster.name',
  'dt.entity.kubernetes_cluster',
] as const

/** The name of one of {@link POD_ATTRIBUTES}. */
export type PodAttribute = (typeof POD_ATTRIBUTES)[number]

/** Earlier names of attributes, which are written as well. */
export const DEPRECATED_POD_ATTRIBUTES: Readonly<Record<string, PodAttribute>> = Object.freeze({
  'dt.kubernetes.cluster.id': 'k8s.cluster.uid',
  'dt.kubernetes.workload.kind': 'k8s.workload.kind',
  'dt.kubernetes.workload.name': 'k8s.workload.name',
})

/** Attributes of a container: the keys of the JSON object of `--attribute-container`, in their order. */
export interface ContainerAttributes {
  readonly 'container_image.registry'?: string
  readonly 'container_image.repository'?: string
  readonly 'container_image.tags'?: string
  readonly 'container_image.digest'?: string
  readonly 'k8s.container.name': string
}
