/** Attributes of pods and containers, as the init container takes them. Pure. */
import type { Container } from '@reeve/kube'
import type { ContainerAttributes } from '../../injection-contract/attributes.ts'
import type { InjectionInput, Workload } from './injection-input.ts'

/** Attributes by key, in order. A Map, because keys come from tenants and users. */
export type Attributes = ReadonlyMap<string, string>

/** What is known about a pod and its cluster. References are resolved when the pod starts. */
export function podAttributes({ namespace, dynakube: { status } }: InjectionInput): Attributes {
  const clusterId = status?.kubeSystemUUID ?? ''
  return new Map([
    ['k8s.pod.name', '$(K8S_PODNAME)'],
    ['k8s.pod.uid', '$(K8S_PODUID)'],
    ['k8s.node.name', '$(K8S_NODE_NAME)'],
    ['k8s.namespace.name', namespace.name],
    ['k8s.cluster.uid', clusterId],
    ['k8s.cluster.name', status?.kubernetesClusterName ?? ''],
    ['dt.entity.kubernetes_cluster', status?.kubernetesClusterMEID ?? ''],
    // Deprecated, for agents that read it.
    ['dt.kubernetes.cluster.id', clusterId],
  ])
}

/** The workload under its own and its deprecated keys. */
export function workloadAttributes({ kind, name }: Workload): Attributes {
  return new Map([
    ['k8s.workload.kind', kind],
    ['k8s.workload.name', name],
    ['dt.kubernetes.workload.kind', kind],
    ['dt.kubernetes.workload.name', name],
  ])
}

/** The workload, then metadata. Metadata replaces deprecated keys; for other keys its argument comes later and wins. */
export function enrichmentArguments(workload: Workload, metadata: Attributes): readonly string[] {
  const known = workloadAttributes(workload)
  const isDeprecated = (key: string) => key.startsWith('dt.')
  return [
    ...attributeArguments([...known].filter(([key]) => !isDeprecated(key))),
    ...attributeArguments(new Map([...[...known].filter(([key]) => isDeprecated(key)), ...metadata])),
  ]
}

/** One argument for each attribute that has a value. */
export function attributeArguments(attributes: Iterable<readonly [string, string]>): readonly string[] {
  return [...attributes].flatMap(([key, value]) => (value === '' ? [] : [`--attribute=${key}=${value}`]))
}

/** The argument with the attributes of a container. */
export function containerArgument({ name, image = '' }: Container): string {
  const parts = imageParts(image)
  const attributes: ContainerAttributes = {
    ...(parts.registry && { 'container_image.registry': parts.registry }),
    ...(parts.repository && { 'container_image.repository': parts.repository }),
    ...(parts.tag && { 'container_image.tags': parts.tag }),
    ...(parts.digest && { 'container_image.digest': parts.digest }),
    'k8s.container.name': name,
  }
  return `--attribute-container=${JSON.stringify(attributes)}`
}

/**
 * The parts of an image as its text says, without the defaults of a container runtime.
 *
 * @example
 * imageParts('registry.example.com/shop/web:1.2') // { registry: 'registry.example.com', repository: 'shop/web', tag: '1.2' … }
 */
function imageParts(image: string) {
  const slash = image.indexOf('/')
  const [named = '', digest = ''] = split(image.slice(slash + 1), '@')
  const [repository = '', tag = ''] = split(named, ':')
  return { registry: slash < 0 ? '' : image.slice(0, slash), repository, tag, digest }
}

/** The texts before and after the first separator. */
function split(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)]
}
