/** Whether workloads run. */
import { DaemonSets, Deployments, type KubeObject, type Resource, StatefulSets, type Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import type { DynaKube } from '../../api/latest.ts'

function live<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  { metadata: { namespace } }: DynaKube,
  cache: CacheReader,
): Stored<T> | undefined {
  return cache.get(resource, namespace === undefined ? { name } : { namespace, name })
}

/** Whether all replicas of a StatefulSet are ready. */
export function isSetReady(name: string, dynakube: DynaKube, cache: CacheReader): boolean {
  const { spec, status } = live(StatefulSets, name, dynakube, cache) ?? {}
  return spec !== undefined && (spec.replicas ?? 1) === (status?.readyReplicas ?? 0)
}

/** Whether the pods of a DaemonSet are ready on every node that has one. */
export function isOnEveryNode(name: string, dynakube: DynaKube, cache: CacheReader): boolean {
  const set = live(DaemonSets, name, dynakube, cache)
  const { currentNumberScheduled = 0, numberReady = 0 } = set?.status ?? {}
  return set !== undefined && currentNumberScheduled <= numberReady
}

/** Whether a Deployment has its desired replicas; one that is being deleted counts as ready, its successor does not. */
export function isExecutorReady(name: string, dynakube: DynaKube, cache: CacheReader): boolean {
  const { metadata, spec, status } = live(Deployments, name, dynakube, cache) ?? {}
  if (metadata === undefined) return false
  if (metadata.deletionTimestamp !== undefined) return true
  const isSeen = metadata.generation === status?.observedGeneration
  return isSeen && (spec?.replicas ?? 1) === (status?.readyReplicas ?? 0)
}
