/** The nodes on which the pods of a DaemonSet run. */
import type { Node } from '../kinds/cluster.ts'
import type { NodeSelectorTerm, Pod, PodSpec, PodTemplate, Toleration } from '../kinds/pods.ts'
import { matchesNode, repellingTaint } from '../scheduling/node-fit.ts'

const NAME_FIELD = 'metadata.name'

/** Daemon pods stay on unhealthy nodes, which they may help to repair. */
const DAEMON_TOLERATIONS: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
]
const HOST_NETWORK_TOLERATION: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
}

/** Whether a DaemonSet runs on a node. */
export interface Placement {
  /** A pod should run there. */
  readonly shouldRun: boolean
  /** An existing pod may stay: a new NoSchedule taint repels new pods but does not evict. */
  readonly mayStay: boolean
}

/** Whether a pod of that template should run on the node. */
export function placementOn(node: Node, template: PodTemplate): Placement {
  const spec = withTolerations(template.spec)
  if (!matchesNode(spec, node)) return { shouldRun: false, mayStay: false }
  const taint = repellingTaint(spec, node)
  if (taint === undefined) return { shouldRun: true, mayStay: true }
  const driving = repellingTaint(spec, { ...node, spec: { taints: noExecute(node) } })
  return { shouldRun: false, mayStay: driving === undefined }
}

function noExecute(node: Node) {
  return node.spec?.taints?.filter(({ effect }) => effect === 'NoExecute') ?? []
}

function withTolerations(spec: PodSpec): PodSpec {
  const network = spec.hostNetwork === true ? [HOST_NETWORK_TOLERATION] : []
  return { ...spec, tolerations: [...(spec.tolerations ?? []), ...DAEMON_TOLERATIONS, ...network] }
}

/** The template for one node: the scheduler can only choose that node. */
export function templateFor(node: string, template: PodTemplate): PodTemplate {
  const spec = withTolerations(template.spec)
  const onNode = { matchFields: [{ key: NAME_FIELD, operator: 'In', values: [node] }] }
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const terms: readonly NodeSelectorTerm[] = required?.nodeSelectorTerms ?? []
  const nodeSelectorTerms = terms.length === 0 ? [onNode] : terms.map((term) => ({ ...term, ...onNode }))
  const nodeAffinity = {
    ...spec.affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
  }
  return { ...template, spec: { ...spec, affinity: { ...spec.affinity, nodeAffinity } } }
}

/** The node that the pod runs on or is meant for. */
export function targetNode(pod: Pod): string | undefined {
  if (pod.spec.nodeName !== undefined) return pod.spec.nodeName
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const fields = required?.nodeSelectorTerms?.flatMap((term) => term.matchFields ?? [])
  return fields?.find(({ key }) => key === NAME_FIELD)?.values?.[0]
}
