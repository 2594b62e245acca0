/** How a DynaKube fares as a whole, from the state of its workloads. */
import {
  DaemonSets,
  type Deployment,
  Deployments,
  type KubeObject,
  type Resource,
  StatefulSets,
  type Stored,
} from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import { hasActiveGate } from '../../api/dynakube/active-gate-facts.ts'
import { hasDatabases, hasKspm, hasPrometheus, hasStandaloneLogMonitoring } from '../../api/dynakube/feature-facts.ts'
import { databaseExecutorName, namesOf } from '../../api/dynakube/names.ts'
import { needsOneAgentDaemonSet } from '../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../api/latest.ts'

/** As it stands in the status. */
export type Phase = 'Running' | 'Deploying' | 'Error'

/** `Running` when every workload that counts is ready, `Deploying` until then. */
export function phaseOf(dynakube: DynaKube, cache: CacheReader): Phase {
  const { namespace } = dynakube.metadata
  const names = namesOf(dynakube)
  const get = <T extends KubeObject>(resource: Resource<T>, name: string): Stored<T> | undefined =>
    cache.get(resource, namespace === undefined ? { name } : { namespace, name })
  const isSetReady = (name: string): boolean => {
    const { spec, status } = get(StatefulSets, name) ?? {}
    return spec !== undefined && (spec.replicas ?? 1) === (status?.readyReplicas ?? 0)
  }
  const isOnEveryNode = (name: string): boolean => {
    const set = get(DaemonSets, name)
    const { currentNumberScheduled = 0, numberReady = 0 } = set?.status ?? {}
    return set !== undefined && currentNumberScheduled <= numberReady
  }
  const checks: readonly (readonly [boolean, () => boolean])[] = [
    [hasActiveGate(dynakube), () => isSetReady(names.activeGate)],
    [hasPrometheus(dynakube), () => isSetReady(names.extensionController) && isSetReady(names.otelCollector)],
    [hasDatabases(dynakube), () => areExecutorsReady(dynakube, (name) => get(Deployments, name))],
    [needsOneAgentDaemonSet(dynakube), () => isOnEveryNode(names.oneAgent)],
    [hasStandaloneLogMonitoring(dynakube), () => isOnEveryNode(names.logMonitoring)],
    [hasKspm(dynakube), () => isOnEveryNode(names.nodeConfigCollector)],
  ]
  return checks.every(([counts, isReady]) => !counts || isReady()) ? 'Running' : 'Deploying'
}

function areExecutorsReady(dynakube: DynaKube, find: (name: string) => Deployment | undefined): boolean {
  return (dynakube.spec.extensions?.databases ?? []).every(({ id }) => {
    const { metadata, spec, status } = find(databaseExecutorName(dynakube, id)) ?? {}
    if (metadata === undefined) return false
    // What is on its way out never gets ready; its successor is waited for.
    if (metadata.deletionTimestamp !== undefined) return true
    const isSeen = metadata.generation === status?.observedGeneration
    return isSeen && (spec?.replicas ?? 1) === (status?.readyReplicas ?? 0)
  })
}
