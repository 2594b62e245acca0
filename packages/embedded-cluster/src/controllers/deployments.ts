/** Rolls out a Deployment: one ReplicaSet per template, from old to new within the limits of the strategy. */
import { timestamp } from '../clock.ts'
import { claim } from './claims.ts'
import type { ClusterView, Lookup } from './cluster-view.ts'
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import { ReplicaSetChanges, rolloutOf, type ScaleChange } from './deployments/replica-set-changes.ts'
import { REVISION, revisionOf } from './deployments/revisions.ts'
import {
  allSets,
  newSetReplicas,
  type Rollout,
  recreateTargets,
  rollingTargets,
  scaledTargets,
  wasScaled,
} from './deployments/rollout.ts'
import { deploymentStatus, isComplete, setCondition } from './deployments/status.ts'
import { controllerOf, isTerminating, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import { isFinished, type Pod } from './kinds/pods.ts'
import type { Deployment, ReplicaSet } from './kinds/workloads.ts'
import { failureMessage } from './pod-creation.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import { SelectorIndex } from './selectors.ts'
import type { SimulatorController } from './simulator-controller.ts'

const SOURCE = 'deployment-controller'

/** ReplicaSets by controller and, without one, by namespace. */
class ReplicaSetIndex {
  readonly #owned: Lookup<ReplicaSet>
  readonly #orphans: Lookup<ReplicaSet>

  constructor(view: ClusterView) {
    this.#owned = view.lookup<ReplicaSet>('replicasets.apps', (set) => {
      const owner = controllerOf(set)
      return owner === undefined ? [] : [owner.uid]
    })
    this.#orphans = view.lookup<ReplicaSet>('replicasets.apps', (set) =>
      controllerOf(set) === undefined ? [namespaceOf(set)] : [],
    )
  }

  of(deployment: Deployment): ReplicaSet[] {
    return this.#owned.get(deployment.metadata.uid)
  }

  orphansIn(namespace: string): ReplicaSet[] {
    return this.#orphans.get(namespace)
  }
}

/** The controller of `deployments.apps`. */
class DeploymentReconciler {
  readonly deployments: ResourceClient<Deployment>
  readonly #sets: ResourceClient<ReplicaSet>
  readonly #index: ReplicaSetIndex
  readonly #changes: ReplicaSetChanges
  readonly #context: ControllerContext

  constructor(context: ControllerContext) {
    this.#context = context
    this.deployments = new ResourceClient(context.api, 'deployments.apps')
    this.#sets = new ResourceClient(context.api, 'replicasets.apps')
    this.#index = new ReplicaSetIndex(context.view)
    this.#changes = new ReplicaSetChanges(this.#sets)
  }

  async reconcile(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key)
    const deployment = this.deployments.get(namespace, name)
    if (deployment === undefined) return undefined
    const candidates = { owned: this.#index.of(deployment), orphans: this.#index.orphansIn(namespace) }
    await claim(deployment, this.#sets, candidates)
    let hasCreated = false
    const rollout = rolloutOf(deployment, this.#index.of(deployment))
    if (!isTerminating(deployment)) hasCreated = await this.#step(rollout)
    return this.#report(deployment, hasCreated)
  }

  /** One step of the rollout; returns whether it created the new ReplicaSet. */
  async #step(rollout: Rollout): Promise<boolean> {
    const { deployment } = rollout
    if (deployment.spec.paused === true || wasScaled(rollout)) {
      await this.#scale(rollout, scaledTargets(rollout))
      return false
    }
    if (deployment.spec.strategy?.type === 'Recreate') return this.#recreate(rollout)
    const { rollout: ready, hasCreated } = await this.#ensureNew(rollout)
    if (ready === undefined) return false
    await this.#scale(ready, rollingTargets(ready))
    return hasCreated
  }

  async #recreate(rollout: Rollout): Promise<boolean> {
    await this.#scale(rollout, recreateTargets(rollout))
    if (this.#hasPodsOf(rollout.oldSets)) return false
    const { rollout: ready, hasCreated } = await this.#ensureNew(rollout)
    if (ready?.newSet === undefined) return false
    await this.#scale(ready, new Map([[ready.newSet.metadata.name, newSetReplicas(ready)]]))
    return hasCreated
  }

  #hasPodsOf(sets: readonly ReplicaSet[]): boolean {
    return sets.some((set) => this.#context.pods.controlledBy(set.metadata.uid).some((pod) => !isFinished(pod)))
  }

  async #ensureNew(rollout: Rollout): Promise<{ rollout: Rollout | undefined; hasCreated: boolean }> {
    const { deployment } = rollout
    const hasCreated = rollout.newSet === undefined
    const newSet = hasCreated ? await this.#create(rollout) : await this.#changes.refreshNew(rollout)
    if (newSet === undefined) return { rollout: undefined, hasCreated: false }
    await this.#recordRevision(deployment, revisionOf(newSet))
    // Other writes may have changed the old sets meanwhile.
    const live = this.deployments.get(namespaceOf(deployment), deployment.metadata.name)
    if (live === undefined) return { rollout: undefined, hasCreated }
    return { rollout: rolloutOf(live, this.#index.of(live)), hasCreated }
  }

  async #create(rollout: Rollout): Promise<ReplicaSet | undefined> {
    const { deployment } = rollout
    try {
      const created = await this.#changes.createNew(rollout)
      if (created === undefined) await this.#avoidCollision(deployment)
      else if ((created.spec.replicas ?? 0) > 0) {
        await this.#recordScaling(deployment, { name: created.metadata.name, from: 0, to: created.spec.replicas ?? 0 })
      }
      return created
    } catch (error) {
      await this.#reportCreateFailure(deployment, error)
      throw error
    }
  }

  /** Another template has the same hash: use the next one. */
  async #avoidCollision(deployment: Deployment): Promise<void> {
    const { status } = deployment
    await this.deployments.updateStatus(deployment, { ...status, collisionCount: (status?.collisionCount ?? 0) + 1 })
  }

  async #reportCreateFailure(deployment: Deployment, error: unknown): Promise<void> {
    const message = failureMessage(error)
    if (message === undefined) return
    const now = timestamp(this.#context.clock.now())
    const failure = { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message } as const
    const conditions = setCondition(deployment.status?.conditions, failure, now)
    await this.deployments.updateStatus(deployment, { ...deployment.status, conditions })
  }

  /** Records the revision on the Deployment, where `kubectl rollout history` reads it. */
  async #recordRevision(deployment: Deployment, revision: bigint): Promise<void> {
    if (revisionOf(deployment) === revision) return
    const live = this.deployments.get(namespaceOf(deployment), deployment.metadata.name)
    if (live === undefined) return
    await this.deployments.annotateWithStatus(live, { [REVISION]: `${revision}` })
  }

  async #scale(rollout: Rollout, targets: ReadonlyMap<string, number>): Promise<void> {
    const { deployment } = rollout
    const changes = await this.#changes.scale(deployment, allSets(rollout), targets)
    for (const change of changes) await this.#recordScaling(deployment, change)
  }

  #recordScaling(deployment: Deployment, { name, from, to }: ScaleChange): Promise<void> {
    const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`
    return this.#context.events.record(deployment, { reason: 'ScalingReplicaSet', message, source: SOURCE })
  }

  async #report(reconciled: Deployment, hasCreated: boolean): Promise<number | undefined> {
    const live = this.deployments.get(namespaceOf(reconciled), reconciled.metadata.name)
    if (live === undefined || live.metadata.uid !== reconciled.metadata.uid) return undefined
    // A newer generation has not been reconciled and is queued: reporting it as observed would make an old rollout look
    // complete.
    if (live.metadata.generation !== reconciled.metadata.generation) return undefined
    const rollout = rolloutOf(live, this.#index.of(live))
    const { status, requeueAfterMs } = deploymentStatus(rollout, this.#context.clock.now(), hasCreated)
    await this.deployments.updateStatus(live, status)
    if (isComplete(live, status) && !isTerminating(live)) await this.#changes.deleteOldest(rollout)
    return requeueAfterMs
  }
}

/** The controller of Deployments. */
export function createDeploymentController(context: ControllerContext): SimulatorController {
  const reconciler = new DeploymentReconciler(context)
  const selectors = new SelectorIndex()
  return new Controller(context, {
    name: 'deployments',
    gathersEvents: true,
    watches: {
      'deployments.apps': ({ type, object }, enqueue) => {
        const deployment = asObject<Deployment>(object)
        const selector = type === 'DELETED' ? undefined : deployment.spec.selector
        selectors.set(namespaceOf(deployment), keyOf(deployment), selector)
        if (type !== 'DELETED') enqueue(keyOf(deployment))
      },
      'replicasets.apps': ({ type, object, previous }, enqueue) => {
        const set = asObject<ReplicaSet>(object)
        const enqueueOwner = (of: ReplicaSet) => {
          const owner = controllerOf(of)
          if (owner?.kind === 'Deployment') enqueue(`${namespaceOf(of)}/${owner.name}`)
          return owner !== undefined
        }
        if (previous !== undefined) enqueueOwner(asObject<ReplicaSet>(previous))
        if (!enqueueOwner(set) && type !== 'DELETED') {
          for (const key of selectors.matching(namespaceOf(set), set.metadata.labels)) enqueue(key)
        }
      },
      // Recreate waits for the last old pod; the other strategies follow the status of ReplicaSets.
      pods: ({ type, object }, enqueue) => {
        if (type !== 'DELETED') return
        const pod = asObject<Pod>(object)
        for (const key of selectors.matching(namespaceOf(pod), pod.metadata.labels)) {
          const { namespace, name } = splitKey(key)
          const deployment = reconciler.deployments.get(namespace, name)
          if (deployment?.spec.strategy?.type === 'Recreate') enqueue(key)
        }
      },
    },
    reconcile: (key) => reconciler.reconcile(key),
  })
}
