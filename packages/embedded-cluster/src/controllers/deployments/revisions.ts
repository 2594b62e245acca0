/** The annotations in which a Deployment and its ReplicaSets store revisions and sizes. */

import type { ClusterObject, Labels } from '../kinds/meta.ts'
import type { PodTemplate } from '../kinds/pods.ts'
import type { Deployment, ReplicaSet } from '../kinds/workloads.ts'
import { jsonEquals } from '../resource-client.ts'

/** The label that distinguishes the pods of different templates. */
export const TEMPLATE_HASH = 'pod-template-hash'
/** The annotation with the revision, on the Deployment and on each of its ReplicaSets. */
export const REVISION = 'deployment.kubernetes.io/revision'
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history'
const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'

/** Annotations that only apply to the Deployment and are not copied to its ReplicaSets. */
const NOT_COPIED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'deprecated.deployment.rollback.to',
])

/** The revision of a Deployment or ReplicaSet, a 64-bit integer; 0 if it has none. */
export function revisionOf(object: ClusterObject): bigint {
  const text = object.metadata.annotations?.[REVISION] ?? ''
  return /^\d{1,19}$/.test(text) ? BigInt(text) : 0n
}

/** The revision after those of all given sets. */
export function nextRevision(sets: readonly ReplicaSet[]): bigint {
  return sets.map(revisionOf).reduce((newest, revision) => (revision > newest ? revision : newest), 0n) + 1n
}

/** The replicas of the Deployment when this set was last scaled. */
export function desiredReplicasOf(set: ReplicaSet): number | undefined {
  return numberIn(set, DESIRED_REPLICAS)
}

/** The maximum number of pods of the Deployment at that time, including surge. */
export function maxReplicasOf(set: ReplicaSet): number | undefined {
  return numberIn(set, MAX_REPLICAS)
}

/** The annotations with the size of the Deployment. */
export function sizeAnnotations(desired: number, max: number): Labels {
  return { [DESIRED_REPLICAS]: `${desired}`, [MAX_REPLICAS]: `${max}` }
}

/** The Deployment's annotations that are copied to its ReplicaSets. */
export function copiedAnnotations(deployment: Deployment): Labels {
  const entries = Object.entries(deployment.metadata.annotations ?? {})
  return Object.fromEntries(entries.filter(([name]) => !NOT_COPIED.has(name)))
}

/** The annotations of a set that becomes revision `revision`; earlier revisions are kept in the history. */
export function revisionAnnotations(set: ReplicaSet, revision: bigint): Labels {
  const before = set.metadata.annotations?.[REVISION]
  if (before === undefined) return { [REVISION]: `${revision}` }
  const history = set.metadata.annotations?.[REVISION_HISTORY]
  return {
    [REVISION]: `${revision}`,
    [REVISION_HISTORY]: history === undefined ? before : `${history},${before}`,
  }
}

/** Whether the set was created from this template. */
export function hasTemplate(set: ReplicaSet, template: PodTemplate): boolean {
  return jsonEquals(withoutHash(set.spec.template), withoutHash(template))
}

function withoutHash(template: PodTemplate): PodTemplate {
  const { [TEMPLATE_HASH]: _hash, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

function numberIn(object: ClusterObject, annotation: string): number | undefined {
  const value = Number.parseInt(object.metadata.annotations?.[annotation] ?? '', 10)
  return Number.isNaN(value) ? undefined : value
}
