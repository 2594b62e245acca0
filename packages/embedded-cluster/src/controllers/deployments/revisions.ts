/** The annotations by which a Deployment and its ReplicaSets remember revisions and what they were told. */
import { jsonEquals } from '../json-equals.ts'
import type { ClusterObject, Labels } from '../kinds/meta.ts'
import type { PodTemplate } from '../kinds/pods.ts'
import type { Deployment, ReplicaSet } from '../kinds/workloads.ts'

/** The label that tells the pods of one template from those of another. */
export const TEMPLATE_HASH = 'pod-template-hash'
/** The annotation with the number of a rollout, on the Deployment and on each of its ReplicaSets. */
export const REVISION = 'deployment.kubernetes.io/revision'
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history'
const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'

/** Annotations of a Deployment that say something about it alone and are not copied to its ReplicaSets. */
const NOT_COPIED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'deprecated.deployment.rollback.to',
])

/** The revision of a Deployment or ReplicaSet; 0 if it has none. */
export function revisionOf(object: ClusterObject): number {
  return numberIn(object, REVISION) ?? 0
}

/** The replicas the Deployment had when this set was last told its share. */
export function desiredReplicasOf(set: ReplicaSet): number | undefined {
  return numberIn(set, DESIRED_REPLICAS)
}

/** The most pods the Deployment might have had then, its surge included. */
export function maxReplicasOf(set: ReplicaSet): number | undefined {
  return numberIn(set, MAX_REPLICAS)
}

/** What a set is told about its Deployment's size. */
export function sizeAnnotations(desired: number, max: number): Labels {
  return { [DESIRED_REPLICAS]: `${desired}`, [MAX_REPLICAS]: `${max}` }
}

/** The Deployment's annotations that its ReplicaSets carry too. */
export function copiedAnnotations(deployment: Deployment): Labels {
  const entries = Object.entries(deployment.metadata.annotations ?? {})
  return Object.fromEntries(entries.filter(([name]) => !NOT_COPIED.has(name)))
}

/** The annotations of a set that becomes revision `revision`; the ones it had before are remembered. */
export function revisionAnnotations(set: ReplicaSet, revision: number): Labels {
  const before = set.metadata.annotations?.[REVISION]
  if (before === undefined) return { [REVISION]: `${revision}` }
  const history = set.metadata.annotations?.[REVISION_HISTORY]
  return {
    [REVISION]: `${revision}`,
    [REVISION_HISTORY]: history === undefined ? before : `${history},${before}`,
  }
}

/** Whether the set was made from this template. */
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
