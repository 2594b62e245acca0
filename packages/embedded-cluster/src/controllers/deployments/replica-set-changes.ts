/** The writes of a rollout: creating the new ReplicaSet, scaling, deleting old revisions. */
import { isAlreadyExists } from '../control-loop.ts'
import { contentHash } from '../hash.ts'
import { byAge, controllerOf, controllerReference, type Draft, isTerminating, namespaceOf } from '../kinds/meta.ts'
import type { Deployment, ReplicaSet } from '../kinds/workloads.ts'
import { jsonEquals, type ResourceClient } from '../resource-client.ts'
import {
  copiedAnnotations,
  hasTemplate,
  nextRevision,
  REVISION,
  revisionAnnotations,
  revisionOf,
  sizeAnnotations,
  TEMPLATE_HASH,
} from './revisions.ts'
import { newSetReplicas, type Rollout, replicasOf, type Targets, updateBudget } from './rollout.ts'

/** Divides the ReplicaSets of a Deployment into the one with its current template and the others. */
export function rolloutOf(deployment: Deployment, sets: readonly ReplicaSet[]): Rollout {
  const { template } = deployment.spec
  const sorted = [...sets].sort(byAge)
  const newSet = sorted.find((set) => hasTemplate(set, template)) ?? findByHash(deployment, sorted)
  return { deployment, newSet, oldSets: sorted.filter((set) => set !== newSet) }
}

/** The hash identifies the set even if admission added fields to its template. */
function findByHash(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  if (sets.length === 0) return undefined
  const hash = templateHash(deployment)
  return sets.find((set) => set.metadata.labels?.[TEMPLATE_HASH] === hash)
}

/** The hash in the name of the ReplicaSet of the current template. */
function templateHash({ spec, status }: Deployment): string {
  return contentHash(spec.template, status?.collisionCount ?? 0)
}

/** Writes to the ReplicaSets of Deployments. */
export class ReplicaSetChanges {
  readonly #sets: ResourceClient<ReplicaSet>

  constructor(sets: ResourceClient<ReplicaSet>) {
    this.#sets = sets
  }

  /** Creates the ReplicaSet of the current template; `undefined` if another template's set has its name. */
  async createNew(rollout: Rollout): Promise<ReplicaSet | undefined> {
    const draft = this.#draft(rollout)
    try {
      return await this.#sets.create(draft)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const { deployment } = rollout
      const existing = this.#sets.get(namespaceOf(deployment), draft.metadata.name ?? '')
      const isOurs = existing !== undefined && controllerOf(existing)?.uid === deployment.metadata.uid
      return isOurs && hasTemplate(existing, deployment.spec.template) ? existing : undefined
    }
  }

  /** Updates revision, sizes and minReadySeconds of the new ReplicaSet. */
  async refreshNew({ deployment, newSet, oldSets }: Rollout): Promise<ReplicaSet | undefined> {
    if (newSet === undefined) return undefined
    const revision = nextRevision(oldSets)
    const annotations = {
      ...newSet.metadata.annotations,
      ...copiedAnnotations(deployment),
      ...(revisionOf(newSet) < revision ? revisionAnnotations(newSet, revision) : {}),
      ...sizes(deployment),
    }
    const spec = { ...newSet.spec, minReadySeconds: deployment.spec.minReadySeconds ?? 0 }
    const isSame =
      jsonEquals(newSet.metadata.annotations, annotations) &&
      (newSet.spec.minReadySeconds ?? 0) === spec.minReadySeconds
    if (isSame) return newSet
    return this.#sets.update({ ...newSet, metadata: { ...newSet.metadata, annotations }, spec })
  }

  /** Sets the requested replicas and records the size of the Deployment on every set with pods. */
  async scale(deployment: Deployment, sets: readonly ReplicaSet[], targets: Targets): Promise<ScaleChange[]> {
    const changes: ScaleChange[] = []
    for (const set of sets) {
      const from = replicasOf(set)
      const to = targets.get(set.metadata.name) ?? from
      const annotations = { ...set.metadata.annotations, ...sizes(deployment) }
      const isUpToDate = to === 0 || jsonEquals(set.metadata.annotations, annotations)
      if (from === to && isUpToDate) continue
      await this.#sets.update({
        ...set,
        metadata: { ...set.metadata, annotations },
        spec: { ...set.spec, replicas: to },
      })
      if (from !== to) changes.push({ name: set.metadata.name, from, to })
    }
    return changes
  }

  /** Deletes the oldest revisions beyond the limit, if they have no pods. */
  async deleteOldest({ deployment, oldSets }: Rollout): Promise<void> {
    const limit = deployment.spec.revisionHistoryLimit ?? 10
    const idle = oldSets.filter((set) => {
      const { generation = 0 } = set.metadata
      const { replicas = 0, observedGeneration = 0 } = set.status ?? {}
      return replicasOf(set) === 0 && replicas === 0 && observedGeneration >= generation && !isTerminating(set)
    })
    idle.sort((a, b) => (revisionOf(a) < revisionOf(b) ? -1 : 1))
    for (const set of idle.slice(0, Math.max(0, idle.length - limit))) await this.#sets.delete(set)
  }

  #draft(rollout: Rollout): Draft<ReplicaSet> {
    const { deployment, oldSets } = rollout
    const { template, selector, minReadySeconds } = deployment.spec
    const hash = templateHash(deployment)
    const labels = { ...template.metadata?.labels, [TEMPLATE_HASH]: hash }
    const revision = nextRevision(oldSets)
    return {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `${deployment.metadata.name}-${hash}`,
        namespace: namespaceOf(deployment),
        labels,
        annotations: { ...copiedAnnotations(deployment), [REVISION]: `${revision}`, ...sizes(deployment) },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas: newSetReplicas(rollout),
        ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector.matchLabels, [TEMPLATE_HASH]: hash } },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    }
  }
}

/** A ReplicaSet whose replicas changed. */
export interface ScaleChange {
  readonly name: string
  readonly from: number
  readonly to: number
}

function sizes(deployment: Deployment): Readonly<Record<string, string>> {
  const replicas = replicasOf(deployment)
  return sizeAnnotations(replicas, replicas + updateBudget(deployment).maxSurge)
}
