/** Whether a node matches a pod: selectors, affinity, taints. */
import type { Node, Taint } from '../kinds/cluster.ts'
import type { Labels } from '../kinds/meta.ts'
import type { NodeSelectorTerm, PodSpec, Toleration } from '../kinds/pods.ts'
import { satisfies, selects } from '../selectors.ts'

/** Whether one of the terms matches; a term without requirements matches nothing. */
function matchesNodeTerms(terms: readonly NodeSelectorTerm[], node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  const fields: Labels = { 'metadata.name': node.metadata.name }
  return terms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false
    return (
      matchExpressions.every((requirement) => satisfies(requirement, labels)) &&
      matchFields.every((requirement) => satisfies(requirement, fields))
    )
  })
}

/** Whether the node has the labels and properties the pod requires. */
export function matchesNode(spec: PodSpec, node: Node): boolean {
  if (!selects({ matchLabels: spec.nodeSelector ?? {} }, node.metadata.labels)) return false
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || matchesNodeTerms(required.nodeSelectorTerms ?? [], node)
}

/** Whether one of the tolerations covers the taint. */
function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return tolerations?.some((toleration) => covers(toleration, taint)) ?? false
}

/**
 * Whether this toleration covers the taint. No effect matches every effect, `Exists` without a key matches every taint.
 */
export function covers(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration
  if (effect !== '' && effect !== taint.effect) return false
  if (key === '') return operator === 'Exists'
  if (key !== taint.key) return false
  return operator === 'Exists' || value === (taint.value ?? '')
}

/** The first taint that repels the pod from the node. */
export function repellingTaint(spec: PodSpec, node: Node): Taint | undefined {
  return node.spec?.taints?.find((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(spec.tolerations, taint))
}

/** The preference score of the node for the pod. */
export function preference(spec: PodSpec, node: Node): number {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const liked = preferred.filter(({ preference: term }) => matchesNodeTerms([term], node))
  const disliked = node.spec?.taints?.filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !tolerates(spec.tolerations, taint),
  )
  return liked.reduce((sum, { weight }) => sum + weight, 0) - 100 * (disliked?.length ?? 0)
}
