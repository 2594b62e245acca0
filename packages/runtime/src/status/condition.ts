/** Standard conditions: one list entry per aspect of an object, with the time its status last changed. */
import type { Clock } from '@reeve/http'
import { formatTime } from '../timestamp.ts'

/** One entry of `status.conditions`, as `metav1.Condition` defines it. */
export interface Condition {
  /** `Ready`, `Available`, `example.com/Feature`; at most one entry per type. */
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  /** One word in CamelCase that programs may branch on. */
  readonly reason: string
  /** A sentence for people; may be empty. */
  readonly message: string
  /** When `status` last changed, not when the entry was last written. */
  readonly lastTransitionTime: string
  /** The `metadata.generation` the entry was computed from; older than the object's means out of date. */
  readonly observedGeneration?: number
}

/** What a controller knows about a condition; the transition time follows from the previous condition. */
export interface ConditionState {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  /** Longer than the API allows is cut. @default '' */
  readonly message?: string | undefined
  /** The generation of the object that it was computed from. @default none */
  readonly observedGeneration?: number | undefined
}

/** The API rejects longer messages. */
const MAX_MESSAGE_LENGTH = 32_768

/**
 * Sets one condition, adding it at the end when it is new.
 *
 * *Guarantees*: the given list is not modified; `lastTransitionTime` moves only when `status` changes; when
 * nothing changes the same array is returned, so `===` shows whether the status needs a write.
 *
 * @example
 * const conditions = setCondition(
 *   app.status?.conditions,
 *   { type: 'Ready', status: 'True', reason: 'PodsReady', observedGeneration: app.metadata.generation },
 *   clock,
 * )
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  state: ConditionState,
  clock: Pick<Clock, 'now'>,
): readonly Condition[] {
  const before = conditions ?? []
  const index = before.findIndex((condition) => condition.type === state.type)
  const existing = before[index]
  const message = (state.message ?? '').slice(0, MAX_MESSAGE_LENGTH)
  if (
    existing !== undefined &&
    existing.status === state.status &&
    existing.reason === state.reason &&
    existing.message === message &&
    existing.observedGeneration === state.observedGeneration
  ) {
    return before
  }
  const next: Condition = {
    type: state.type,
    status: state.status,
    reason: state.reason,
    message,
    lastTransitionTime: existing?.status === state.status ? existing.lastTransitionTime : formatTime(clock.now()),
    ...(state.observedGeneration !== undefined && { observedGeneration: state.observedGeneration }),
  }
  return existing === undefined ? [...before, next] : before.with(index, next)
}

/**
 * The condition of a type, if there is one.
 *
 * @example
 * const ready = getCondition(app.status?.conditions, 'Ready')
 */
export function getCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/**
 * The list without a type; the same array if it was absent.
 *
 * @example
 * const conditions = removeCondition(app.status?.conditions, 'Progressing')
 */
export function removeCondition(conditions: readonly Condition[] | undefined, type: string): readonly Condition[] {
  const before = conditions ?? []
  return getCondition(before, type) === undefined ? before : before.filter((condition) => condition.type !== type)
}
