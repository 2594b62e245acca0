/** The status of workloads, autoscalers and disruption budgets: counts must not be negative or inconsistent. */
import { type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { notNegative, qualifiedNameProblems } from './formats.ts'
import { entriesOf, Problems, textAt } from './problems.ts'

/** The rules for the status of one kind. */
interface CountRules {
  /** Counts in the order in which the server validates them. */
  readonly counts: readonly string[]
  /** Counts that cannot exceed `status.replicas`. */
  readonly upToReplicas?: readonly string[]
  /**
   * The name of ready replicas in the message about more available than ready replicas; if absent, they are not
   * compared.
   */
  readonly ready?: string
  /** Whether `collisionCount` may only increase. */
  readonly keepsCollisions?: boolean
}

function checkCounts(rules: CountRules): (object: JsonObject, old: JsonObject) => readonly FieldError[] {
  return (object, old) => {
    const problems = new Problems()
    const status = objectAt(object, 'status')
    const count = (field: string) => Number(status[field] ?? 0)
    for (const field of rules.counts) notNegative(problems, `status.${field}`, status[field])
    for (const field of rules.upToReplicas ?? []) {
      if (count(field) <= count('replicas')) continue
      problems.invalid(`status.${field}`, count(field), 'cannot be greater than status.replicas')
    }
    if (rules.ready !== undefined && count('availableReplicas') > count('readyReplicas')) {
      const detail = `cannot be greater than ${rules.ready}`
      problems.invalid('status.availableReplicas', count('availableReplicas'), detail)
    }
    const before = objectAt(old, 'status').collisionCount
    if (rules.keepsCollisions === true && typeof before === 'number' && count('collisionCount') < before) {
      problems.invalid('status.collisionCount', count('collisionCount'), 'cannot be decremented')
    }
    return problems.errors
  }
}

/** Validates a Deployment's status. */
export const validateDeploymentStatus = checkCounts({
  counts: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'collisionCount',
  ],
  upToReplicas: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  ready: 'readyReplicas',
  keepsCollisions: true,
})

/** Validates the status of a ReplicaSet or ReplicationController. */
export const validateReplicaSetStatus = checkCounts({
  counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
  upToReplicas: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  ready: 'readyReplicas',
})

/** Validates a StatefulSet's status. */
export const validateStatefulSetStatus = checkCounts({
  counts: [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ],
  upToReplicas: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  ready: 'status.readyReplicas',
})

/** Validates a DaemonSet's status. */
export const validateDaemonSetStatus = checkCounts({
  counts: [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ],
  keepsCollisions: true,
})

/** Validates a HorizontalPodAutoscaler's status. */
export const validateAutoscalerStatus = checkCounts({ counts: ['currentReplicas', 'desiredReplicas'] })

const budgetCounts = checkCounts({ counts: ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] })

/** Validates a PodDisruptionBudget's status. */
export function validateDisruptionBudgetStatus(object: JsonObject, old: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  for (const [condition, at] of entriesOf(objectAt(object, 'status'), 'conditions', 'status.conditions')) {
    validateCondition(problems, condition, at)
  }
  return [...problems.errors, ...budgetCounts(object, old)]
}

/** Validates a condition in the format that newer kinds share. */
function validateCondition(problems: Problems, condition: JsonObject, at: string): void {
  const type = textAt(condition, 'type')
  if (type === '') problems.required(`${at}.type`)
  else problems.invalidAll(`${at}.type`, type, qualifiedNameProblems(type))
  problems.oneOf(`${at}.status`, textAt(condition, 'status'), ['False', 'True', 'Unknown'])
  notNegative(problems, `${at}.observedGeneration`, condition.observedGeneration)
  if (condition.lastTransitionTime === null) problems.required(`${at}.lastTransitionTime`)
  if (textAt(condition, 'reason') === '') problems.required(`${at}.reason`)
}
