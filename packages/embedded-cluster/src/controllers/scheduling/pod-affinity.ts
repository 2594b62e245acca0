/** Placement rules relative to other pods: affinity, anti-affinity and topology spread. */
import type { Namespace, Node } from '../kinds/cluster.ts'
import { type Labels, namespaceOf } from '../kinds/meta.ts'
import { isFinished, type Pod, type PodAffinityTerm } from '../kinds/pods.ts'
import type { PodIndex } from '../pod-index.ts'
import type { ResourceClient } from '../resource-client.ts'
import { selects } from '../selectors.ts'
import { matchesNode } from './node-fit.ts'

/** Why a node is not suitable. */
export type AffinityProblem = 'pod affinity' | 'pod anti-affinity' | 'topology spread'

/** The pods and nodes of the cluster. */
export interface Neighbourhood {
  readonly pods: PodIndex
  readonly namespaces: ResourceClient<Namespace>
  readonly nodes: readonly Node[]
  /** Bound pods with anti-affinity. */
  readonly repelling: Iterable<Pod>
}

/** Returns a check of each node for the pod. Rules are evaluated once per pod, not once per node. */
export function affinityCheck(pod: Pod, around: Neighbourhood): (node: Node) => AffinityProblem | undefined {
  const { affinity } = pod.spec
  const wanted = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const unwanted = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const attracting = wanted.map((term) => attraction(pod, term, around))
  const repelling = [
    ...unwanted.map((term) => ({ key: term.topologyKey, values: domainsOf(term, pod, around) })),
    ...[...around.repelling].flatMap((other) => repulsion(other, pod, around)),
  ]
  const spreads = spreadChecks(pod, around)
  return (node) => {
    const labels = node.metadata.labels ?? {}
    if (!attracting.every((holds) => holds(labels))) return 'pod affinity'
    if (repelling.some(({ key, values }) => hasDomain(labels, key, values))) return 'pod anti-affinity'
    return spreads.every((holds) => holds(labels)) ? undefined : 'topology spread'
  }
}

/** Whether the pod has anti-affinity to others. */
export function isRepelling(pod: Pod): boolean {
  const terms = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  return terms.length > 0 && pod.spec.nodeName !== undefined && !isFinished(pod)
}

function attraction(pod: Pod, term: PodAffinityTerm, around: Neighbourhood): (labels: Labels) => boolean {
  const values = domainsOf(term, pod, around)
  // The first pod of a group with affinity to itself has no other pod to join.
  const isFirst = values.size === 0 && concerns(term, pod, pod, around)
  return (labels) => (isFirst ? term.topologyKey in labels : hasDomain(labels, term.topologyKey, values))
}

function repulsion(other: Pod, pod: Pod, around: Neighbourhood): { key: string; values: ReadonlySet<string> }[] {
  const terms = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  return terms
    .filter((term) => concerns(term, other, pod, around))
    .map((term) => ({ key: term.topologyKey, values: domainsOfPods([other], term.topologyKey, around.nodes) }))
}

/** Whether a term of `owner` applies to `candidate`. */
function concerns(term: PodAffinityTerm, owner: Pod, candidate: Pod, around: Neighbourhood): boolean {
  const isInScope = namespacesOf(term, owner, around).includes(namespaceOf(candidate))
  return isInScope && selects(term.labelSelector, candidate.metadata.labels)
}

function namespacesOf(term: PodAffinityTerm, owner: Pod, around: Neighbourhood): readonly string[] {
  const { namespaces = [], namespaceSelector } = term
  if (namespaceSelector === undefined) return namespaces.length > 0 ? namespaces : [namespaceOf(owner)]
  const selected = around.namespaces.list().filter(({ metadata }) => selects(namespaceSelector, metadata.labels))
  return [...namespaces, ...selected.map(({ metadata }) => metadata.name)]
}

/** Topology values, such as zones, that already have a pod to which the term applies. */
function domainsOf(term: PodAffinityTerm, owner: Pod, around: Neighbourhood): ReadonlySet<string> {
  const { labelSelector } = term
  if (labelSelector === undefined) return new Set()
  const pods = namespacesOf(term, owner, around).flatMap((namespace) => around.pods.matching(namespace, labelSelector))
  return domainsOfPods(pods, term.topologyKey, around.nodes)
}

function domainsOfPods(pods: readonly Pod[], topologyKey: string, nodes: readonly Node[]): ReadonlySet<string> {
  const names = new Set(pods.filter((pod) => !isFinished(pod)).map((pod) => pod.spec.nodeName))
  const standing = nodes.filter((node) => names.has(node.metadata.name))
  return new Set(standing.flatMap((node) => node.metadata.labels?.[topologyKey] ?? []))
}

function hasDomain(labels: Labels, key: string, values: ReadonlySet<string>): boolean {
  const value = labels[key]
  return value !== undefined && values.has(value)
}

function spreadChecks(pod: Pod, around: Neighbourhood): ((labels: Labels) => boolean)[] {
  const binding = (pod.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
  )
  return binding.map(({ topologyKey, maxSkew, labelSelector = {} }) => {
    const counts = new Map<string, number>()
    const domainOfNode = new Map<string, string>()
    for (const node of around.nodes) {
      const domain = node.metadata.labels?.[topologyKey]
      if (domain === undefined || !matchesNode(pod.spec, node)) continue
      domainOfNode.set(node.metadata.name, domain)
      counts.set(domain, counts.get(domain) ?? 0)
    }
    for (const other of around.pods.matching(namespaceOf(pod), labelSelector)) {
      const domain = domainOfNode.get(other.spec.nodeName ?? '')
      if (domain !== undefined && !isFinished(other)) counts.set(domain, (counts.get(domain) ?? 0) + 1)
    }
    const least = Math.min(...counts.values())
    return (labels) => {
      const count = counts.get(labels[topologyKey] ?? '')
      return count !== undefined && count + 1 - least <= maxSkew
    }
  })
}
