/** How an object stands, from its status: the rules of people who read `kubectl get`. */
import { isRecord, type JsonRecord } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import type { Condition, Health } from '../wire.ts'

/** A judgement, and the sentence behind it. */
export interface ObjectState {
  readonly phase: string
  readonly health: Health
  readonly message: string
}

const GOOD = /^(ready|running|available|active|bound|succeeded|complete|completed|deployed|healthy)$/i
const BAD = /^(degraded|error|failed|failing|stalled|invalid|rejected|crashloopbackoff)$/i

/** Conditions that are bad news when they are true. */
const BAD_WHEN_TRUE = /^(degraded|stalled|failed|failing|.*failure|.*pressure)$/i
/** Conditions that only say what is going on. */
const PROGRESS = /^(progressing|reconciling|paused)$/i

/** The conditions in the status of an object. */
export function conditionsOf(object: KubeObject): readonly Condition[] {
  const { conditions } = statusOf(object)
  if (!Array.isArray(conditions)) return []
  return conditions.filter(isRecord).flatMap((one) => {
    const { type, status } = one
    if (typeof type !== 'string') return []
    const text = (name: string) => (typeof one[name] === 'string' ? { [name]: one[name] } : {})
    return [
      { type, status: String(status), ...text('reason'), ...text('message'), ...text('lastTransitionTime') },
    ] as Condition[]
  })
}

/**
 * How an object stands: workloads by their replicas, everything else by phase and conditions.
 *
 * @example
 * stateOf(webapp) // { phase: 'Ready', health: 'good', message: '2 replicas available' }
 */
export function stateOf(object: KubeObject): ObjectState {
  if (object.metadata.deletionTimestamp !== undefined) {
    return { phase: 'Deleting', health: 'progressing', message: 'is being deleted' }
  }
  const replicas = replicasOf(object)
  if (replicas !== undefined) return replicas
  const status = statusOf(object)
  const conditions = conditionsOf(object)
  const phase = typeof status.phase === 'string' ? status.phase : phaseOf(conditions)
  const bad = conditions.find(({ type, status: value }) => BAD_WHEN_TRUE.test(type) && value === 'True')
  const unmet = conditions.find(
    ({ type, status: value }) => value === 'False' && !BAD_WHEN_TRUE.test(type) && !PROGRESS.test(type),
  )
  const progress = conditions.find(({ type, status: value }) => PROGRESS.test(type) && value === 'True')
  const ready = conditions.find(({ type }) => type === 'Ready' || type === 'Available')
  const health = healthOf(phase, { isBad: bad !== undefined, isUnmet: unmet !== undefined })
  const telling = health === 'good' ? ready : (bad ?? unmet ?? progress ?? ready)
  return { phase, health, message: telling?.message ?? '' }
}

function healthOf(phase: string, { isBad, isUnmet }: { readonly isBad: boolean; readonly isUnmet: boolean }): Health {
  if (isBad || BAD.test(phase)) return 'bad'
  if (GOOD.test(phase)) return 'good'
  if (phase === '') return isUnmet ? 'progressing' : 'unknown'
  return 'progressing'
}

function phaseOf(conditions: readonly Condition[]): string {
  const ready = conditions.find(({ type }) => type === 'Ready' || type === 'Available')
  if (ready === undefined) return ''
  return ready.status === 'True' ? ready.type : `Not ${ready.type.toLowerCase()}`
}

function replicasOf(object: KubeObject): ObjectState | undefined {
  const { spec } = object as { readonly spec?: unknown }
  const status = statusOf(object)
  const number = (from: JsonRecord, name: string) => (typeof from[name] === 'number' ? from[name] : 0)
  const counted = (ready: number, wanted: number, what: string): ObjectState => {
    const isObserved = number(status, 'observedGeneration') >= (object.metadata.generation ?? 0)
    const isReady = ready >= wanted && isObserved
    const message = isObserved ? `${ready} of ${wanted} ${what}` : 'the change is being rolled out'
    return { phase: isReady ? 'Ready' : 'Progressing', health: isReady ? 'good' : 'progressing', message }
  }
  const wanted = isRecord(spec) && typeof spec.replicas === 'number' ? spec.replicas : 1
  switch (object.kind) {
    case 'Deployment':
    case 'ReplicaSet':
      return counted(number(status, 'availableReplicas'), wanted, 'available')
    case 'StatefulSet':
      return counted(number(status, 'readyReplicas'), wanted, 'ready')
    case 'DaemonSet':
      return counted(number(status, 'numberReady'), number(status, 'desiredNumberScheduled'), 'ready')
    default:
      return undefined
  }
}

function statusOf(object: KubeObject): JsonRecord {
  const { status } = object as { readonly status?: unknown }
  return isRecord(status) ? status : {}
}
