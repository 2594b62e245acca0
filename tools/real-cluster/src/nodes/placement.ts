/** Which node a pod may run on: the hard rules of scheduling, without resources, spreading and inter-pod affinity. */
import type { Node, Pod, SelectorRequirement, SelectorTerm, Taint, Toleration } from './objects.ts'

/** The node for a pod, or the reason why it is unschedulable. */
export type Placement = { readonly node: string } | { readonly unschedulable: string }

/** Chooses the fitting node with the fewest pods; the first by name among equals, so that the choice is repeatable. */
export function place(pod: Pod, nodes: readonly Node[], podsPerNode: ReadonlyMap<string, number>): Placement {
  const reasons = new Map<string, number>()
  const fitting: string[] = []
  for (const node of nodes) {
    const reason = rejectionReason(pod, node)
    if (reason === undefined) fitting.push(node.metadata.name)
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  const load = (name: string) => podsPerNode.get(name) ?? 0
  const [best] = fitting.sort((a, b) => load(a) - load(b) || (a < b ? -1 : 1))
  if (best !== undefined) return { node: best }
  const details = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort()
  const summary = details.length === 0 ? 'no nodes are registered' : details.join(', ')
  return { unschedulable: `0/${nodes.length} nodes are available: ${summary}.` }
}

function rejectionReason(pod: Pod, node: Node): string | undefined {
  const tolerations = pod.spec.tolerations ?? []
  const taints = [...(node.spec?.taints ?? [])]
  if (node.spec?.unschedulable) taints.push({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' })
  const taint = taints.find(
    (candidate) => candidate.effect !== 'PreferNoSchedule' && !isTolerated(candidate, tolerations),
  )
  if (taint !== undefined) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`

  const labels = node.metadata.labels ?? {}
  const selector = Object.entries(pod.spec.nodeSelector ?? {})
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  const isSelected =
    selector.every(([key, value]) => labels[key] === value) &&
    (terms === undefined || terms.some((term) => matchesTerm(term, node)))
  return isSelected ? undefined : "node(s) didn't match the pod's node affinity or selector"
}

/** Whether one of the tolerations covers the taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(
    (toleration) =>
      (!toleration.effect || toleration.effect === taint.effect) &&
      (toleration.key ? toleration.key === taint.key : toleration.operator === 'Exists') &&
      (toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '')),
  )
}

// A term without requirements matches nothing.
function matchesTerm(term: SelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? []
  const fields = term.matchFields ?? []
  return (
    expressions.length + fields.length > 0 &&
    expressions.every((requirement) => matches(requirement, node.metadata.labels?.[requirement.key])) &&
    fields.every((requirement) => requirement.key === 'metadata.name' && matches(requirement, node.metadata.name))
  )
}

function matches({ operator, values = [] }: SelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return Number(value) > Number(values[0])
    case 'Lt':
      return Number(value) < Number(values[0])
    default:
      return false
  }
}
