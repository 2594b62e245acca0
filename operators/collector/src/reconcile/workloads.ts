/** How the workloads of a release fare, and which of its objects are missing. */
import { manifestObjects, type Release } from '@reeve/helm'
import {
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  type Resource,
  Services,
  type StatefulSet,
  StatefulSets,
} from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import type { Health } from '../decision/decide.ts'

/** The kinds whose objects are watched. */
export const WATCHED = [Deployments, StatefulSets, DaemonSets, Services] as const

/** Helm labels everything it makes. */
export const MADE_BY_HELM = 'app.kubernetes.io/managed-by=Helm'

/** What helm has written a moment ago may not have reached the cache; until then the server is asked. */
const FRESH_MS = 10_000

/** How a release fares. */
export interface WorkloadReport {
  readonly health: Health
  /** Such as `Deployment web: 1 of 2 replicas ready`; empty when all are ready. */
  readonly notes: readonly string[]
  /** Such as `Service web`. */
  readonly missing: readonly string[]
}

/** Where to look. */
export interface WorkloadContext {
  readonly cache: CacheReader
  readonly client: KubeClient
  readonly now: number
  readonly signal: AbortSignal
}

/**
 * Looks at the watched objects of a revision.
 *
 * @example
 * const { health, missing } = await inspectWorkloads(release, { cache, client, now, signal })
 */
export async function inspectWorkloads(release: Release, context: WorkloadContext): Promise<WorkloadReport> {
  const isFresh = context.now - Date.parse(release.lastDeployed ?? '') < FRESH_MS
  const notes: string[] = []
  const missing: string[] = []
  let isStuck = false
  for (const { kind, apiVersion, metadata } of manifestObjects(release.manifest)) {
    const resource = WATCHED.find((known) => known.kind === kind && isOfGroup(known, apiVersion))
    if (resource === undefined || metadata.name === undefined) continue
    const key = { namespace: metadata.namespace ?? release.namespace, name: metadata.name }
    // The union of resources is read as one of plain objects; `readiness` looks at the kind.
    const live = await find(resource as Resource<KubeObject>, key, isFresh, context)
    if (live === undefined) {
      missing.push(`${kind} ${metadata.name}`)
      continue
    }
    const { note, isStuck: isThisStuck } = readiness(live)
    if (note !== undefined) notes.push(`${kind} ${metadata.name}: ${note}`)
    isStuck ||= isThisStuck
  }
  const isReady = notes.length === 0
  return { health: isStuck ? 'stuck' : isReady ? 'ready' : 'progressing', notes, missing }
}

/** From the cache, unless that may be behind: what looks new or missing is asked for. */
async function find(
  resource: Resource<KubeObject>,
  key: ObjectKey,
  isFresh: boolean,
  { cache, client, signal }: WorkloadContext,
): Promise<KubeObject | undefined> {
  const cached = cache.get(resource, key)
  if (cached !== undefined && !isFresh) return cached
  try {
    return await client.get(resource, key, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

interface Readiness {
  readonly note?: string
  readonly isStuck: boolean
}

function readiness(object: KubeObject): Readiness {
  // The kind says which of them it is.
  if (object.kind === 'Deployment') return deploymentReadiness(object as Deployment)
  if (object.kind === 'StatefulSet') return statefulSetReadiness(object as StatefulSet)
  return object.kind === 'DaemonSet' ? daemonSetReadiness(object as DaemonSet) : { isStuck: false }
}

function deploymentReadiness({ metadata, spec, status }: Deployment): Readiness {
  const stuck = status?.conditions?.find(({ type, reason }) => type === 'Progressing' && reason === DEADLINE_EXCEEDED)
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  if (stuck !== undefined && isObserved) return { isStuck: true, note: stuck.message ?? 'it does not progress' }
  const ready = Math.min(status?.updatedReplicas ?? 0, status?.availableReplicas ?? 0)
  const hasLeftovers = (status?.replicas ?? 0) > (status?.updatedReplicas ?? 0)
  return counted(spec?.replicas ?? 1, ready, isObserved && !hasLeftovers)
}

function statefulSetReadiness({ metadata, spec, status }: StatefulSet): Readiness {
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  return counted(spec?.replicas ?? 1, Math.min(status?.updatedReplicas ?? 0, status?.readyReplicas ?? 0), isObserved)
}

function daemonSetReadiness({ metadata, status }: DaemonSet): Readiness {
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  const ready = Math.min(status?.updatedNumberScheduled ?? 0, status?.numberReady ?? 0)
  return counted(status?.desiredNumberScheduled ?? 0, ready, isObserved)
}

const DEADLINE_EXCEEDED = 'ProgressDeadlineExceeded'

function counted(wanted: number, ready: number, isSettled: boolean): Readiness {
  if (isSettled && ready >= wanted) return { isStuck: false }
  return { isStuck: false, note: `${ready} of ${wanted} replicas ready` }
}

function isOfGroup({ group }: Resource, apiVersion: string): boolean {
  return group === (apiVersion.includes('/') ? apiVersion.split('/')[0] : '')
}
