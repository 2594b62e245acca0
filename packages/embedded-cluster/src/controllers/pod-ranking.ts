/** Which pods are deleted first when there are too many: those with the least impact. */
import { isReady, type Pod, podCondition } from './kinds/pods.ts'

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const PHASES = ['Pending', 'Unknown', 'Running']

/**
 * `count` of the pods: unscheduled before scheduled, not started before started, not ready before ready, cheap
 * before costly by annotation, crowded on a node before alone, then the youngest.
 */
export function surplusPods(pods: readonly Pod[], count: number): Pod[] {
  const perNode = new Map<string, number>()
  for (const { spec } of pods) {
    if (spec.nodeName !== undefined) perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1)
  }
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, perNode) }))
  ranked.sort((a, b) => compare(a.rank, b.rank) || byYouth(a.pod, b.pod))
  return ranked.slice(0, count).map(({ pod }) => pod)
}

function rankOf(pod: Pod, perNode: ReadonlyMap<string, number>): readonly number[] {
  const restarts = (pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)
  return [
    pod.spec.nodeName === undefined ? 0 : 1,
    PHASES.indexOf(pod.status?.phase ?? 'Pending'),
    isReady(pod) ? 1 : 0,
    Number.parseInt(pod.metadata.annotations?.[DELETION_COST] ?? '0', 10) || 0,
    -(perNode.get(pod.spec.nodeName ?? '') ?? 0),
    -Date.parse(podCondition(pod, 'Ready')?.lastTransitionTime ?? '') || 0,
    -Math.max(0, ...restarts),
  ]
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function byYouth(a: Pod, b: Pod): number {
  const [left, right] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (left !== right) return left > right ? -1 : 1
  return a.metadata.name > b.metadata.name ? -1 : 1
}
