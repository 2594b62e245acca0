/** Computes how many pods of a PodDisruptionBudget may be evicted now. The API server decrements it for evictions. */
import { timestamp } from '../clock.ts'
import { withCondition } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from './kinds/cluster.ts'
import { type ClusterObject, type Condition, controllerOf, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import { isActive, isReady, type Pod } from './kinds/pods.ts'
import { resolveIntOrPercent } from './quantities.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import { SelectorIndex } from './selectors.ts'
import type { SimulatorController } from './simulator-controller.ts'

/** An evicted pod that is not terminating after this time no longer counts as evicted. */
const EVICTION_TIMEOUT_MS = 120_000

interface Scalable extends ClusterObject {
  readonly spec?: { readonly replicas?: number }
}

/** The number of pods of the budget, and how many of them must be healthy. */
interface Expectation {
  readonly expectedPods: number
  readonly desiredHealthy: number
}

const SCALABLE: Readonly<Record<string, string>> = {
  ReplicaSet: 'replicasets.apps',
  StatefulSet: 'statefulsets.apps',
  ReplicationController: 'replicationcontrollers',
  Deployment: 'deployments.apps',
}

/** Keys are those of budgets. */
export function createPodDisruptionBudgetController(context: ControllerContext): SimulatorController {
  const { api, clock } = context
  const budgets = new ResourceClient<PodDisruptionBudget>(api, 'poddisruptionbudgets.policy')
  const selectors = new SelectorIndex()

  /** The desired replicas of the pods' controllers; pods without a controller count individually. */
  function expectedScale(namespace: string, pods: readonly Pod[]): number {
    const controllers = new Map<string, number>()
    for (const pod of pods) {
      const owner = controllerOf(pod)
      const resource = SCALABLE[owner?.kind ?? '']
      const found = resource === undefined ? undefined : api.get(resource, namespace, owner?.name ?? '')
      const replicas = found === undefined ? undefined : (asObject<Scalable>(found).spec?.replicas ?? 1)
      if (owner !== undefined && replicas !== undefined) controllers.set(owner.uid, replicas)
      else controllers.set(pod.metadata.uid, 1)
    }
    return [...controllers.values()].reduce((sum, replicas) => sum + replicas, 0)
  }

  function expectation({ spec, metadata }: PodDisruptionBudget, pods: readonly Pod[]): Expectation {
    const { minAvailable, maxUnavailable } = spec
    if (maxUnavailable !== undefined) {
      const expectedPods = expectedScale(metadata.namespace ?? '', pods)
      const lost = resolveIntOrPercent(maxUnavailable, expectedPods, 'up')
      return { expectedPods, desiredHealthy: Math.max(0, expectedPods - lost) }
    }
    if (typeof minAvailable === 'string') {
      const expectedPods = expectedScale(metadata.namespace ?? '', pods)
      return { expectedPods, desiredHealthy: resolveIntOrPercent(minAvailable, expectedPods, 'up') }
    }
    return { expectedPods: pods.length, desiredHealthy: minAvailable ?? 1 }
  }

  /** Evictions that were granted and are not visible yet. */
  function pendingEvictions(budget: PodDisruptionBudget, pods: readonly Pod[]): Record<string, string> {
    const there = new Set(pods.map((pod) => pod.metadata.name))
    const entries = Object.entries(budget.status?.disruptedPods ?? {})
    return Object.fromEntries(
      entries.filter(([name, time]) => there.has(name) && Date.parse(time) + EVICTION_TIMEOUT_MS > clock.now()),
    )
  }

  function statusOf(budget: PodDisruptionBudget): PodDisruptionBudgetStatus {
    const namespace = namespaceOf(budget)
    const pods = context.pods.matching(namespace, budget.spec.selector ?? {}).filter(isActive)
    const { expectedPods, desiredHealthy } = expectation(budget, pods)
    const disruptedPods = pendingEvictions(budget, pods)
    const currentHealthy = pods.filter((pod) => isReady(pod) && !(pod.metadata.name in disruptedPods)).length
    const disruptionsAllowed = pods.length === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
    const condition: Condition = {
      type: 'DisruptionAllowed',
      status: disruptionsAllowed > 0 ? 'True' : 'False',
      reason: disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      ...(budget.metadata.generation === undefined ? {} : { observedGeneration: budget.metadata.generation }),
    }
    return {
      ...(budget.metadata.generation === undefined ? {} : { observedGeneration: budget.metadata.generation }),
      ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods,
      conditions: withCondition(budget.status?.conditions, condition, timestamp(clock.now())),
    }
  }

  return new Controller(context, {
    name: 'pod-disruption-budgets',
    gathersEvents: true,
    watches: {
      'poddisruptionbudgets.policy': ({ type, object }, enqueue) => {
        const budget = asObject<PodDisruptionBudget>(object)
        selectors.set(namespaceOf(budget), keyOf(budget), type === 'DELETED' ? undefined : (budget.spec.selector ?? {}))
        if (type !== 'DELETED') enqueue(keyOf(budget))
      },
      pods: ({ object, previous }, enqueue) => {
        for (const state of previous === undefined ? [object] : [previous, object]) {
          const pod = asObject<Pod>(state)
          for (const key of selectors.matching(namespaceOf(pod), pod.metadata.labels)) enqueue(key)
        }
      },
    },
    async reconcile(key) {
      const { namespace, name } = splitKey(key)
      const budget = budgets.get(namespace, name)
      if (budget === undefined) return undefined
      const status = statusOf(budget)
      await budgets.updateStatus(budget, status)
      return status.disruptedPods === undefined ? undefined : EVICTION_TIMEOUT_MS
    },
  })
}
