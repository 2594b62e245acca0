/** Pausing one object: an annotation stops its reconciles, and its status shows it. */
import type { Clock } from '@reeve/http'
import { formatKey, type KubeClient, type KubeObject, type ObjectKey, type Resource, type Stored } from '@reeve/kube'
import type { EventRecorder } from '../events/event-recorder.ts'
import type { Logger } from '../logging/logger.ts'
import { removeCondition, setCondition } from '../status/condition.ts'
import { StatusConditions } from '../status/status-conditions.ts'
import type { Predicate } from './predicates.ts'

/** Set it to `"true"` on an object to pause its reconciles. */
export const PAUSED_ANNOTATION = 'reeve.dev/paused'

/** The condition of a paused object. */
export const PAUSED_CONDITION = 'Paused'

/** The reason of the condition, which distinguishes it from a condition of the operator itself. */
const REASON = 'PausedByAnnotation'

/**
 * Whether the annotation pauses an object.
 *
 * @example
 * if (isPaused(webapp)) return
 */
export function isPaused(object: KubeObject): boolean {
  return object.metadata.annotations?.[PAUSED_ANNOTATION] === 'true'
}

/** Passes what `predicate` passes, and every change of the annotation. */
export function orPauseChanged<T extends KubeObject>(predicate: Predicate<T>): Predicate<T> {
  return (change) =>
    (change.type === 'modified' && isPaused(change.previous) !== isPaused(change.object)) || predicate(change)
}

/** What reporting needs of a reconcile. */
interface PauseContext {
  readonly client: KubeClient
  readonly clock: Clock
  readonly logger: Logger
  readonly events: EventRecorder
  readonly signal: AbortSignal
}

/**
 * The paused objects of one controller.
 *
 * *Guarantees*: an object that is paused, or paused again after a restart, costs at most one write of its status.
 */
export class PausedObjects<T extends KubeObject> {
  readonly #conditions: StatusConditions<T>
  readonly #onCount: (count: number) => void
  /** Keys of objects that exist, so no more than the cache holds. */
  readonly #paused = new Set<string>()

  /** @param isWhole objects are cached with their status */
  constructor(resource: Resource<T>, isWhole: boolean, onCount: (count: number) => void) {
    this.#conditions = new StatusConditions(resource, isWhole)
    this.#onCount = onCount
  }

  /** Reports that an object is paused. Call it instead of its reconcile. */
  async pause(key: ObjectKey, object: Stored<T>, context: PauseContext): Promise<void> {
    const { clock, logger, events } = context
    const isKnown = this.#paused.has(formatKey(key)) || this.#conditions.get(object, PAUSED_CONDITION) !== undefined
    this.#note(key, true)
    const isDeleting = object.metadata.deletionTimestamp !== undefined
    const message = isDeleting
      ? `paused by the annotation ${PAUSED_ANNOTATION}: the deletion waits until it is removed`
      : `paused by the annotation ${PAUSED_ANNOTATION}: changes have no effect until it is removed`
    const state = { type: PAUSED_CONDITION, status: 'True', reason: REASON, message } as const
    await this.#conditions.write(object, (conditions) => setCondition(conditions, state, clock), context)
    if (isKnown) {
      logger.debug({}, 'object is paused')
      return
    }
    logger.info({ annotation: PAUSED_ANNOTATION }, 'object is paused')
    events.record(object, { type: 'Normal', reason: 'Paused', message })
  }

  /** Removes the condition of an object that is no longer paused. Call it before its reconcile. */
  async resume(key: ObjectKey, object: Stored<T> | undefined, context: PauseContext): Promise<void> {
    const wasPaused = this.#paused.has(formatKey(key))
    this.#note(key, false)
    if (object === undefined) return
    const hasCondition = this.#conditions.get(object, PAUSED_CONDITION)?.reason === REASON
    if (hasCondition) {
      await this.#conditions.write(object, (conditions) => removeCondition(conditions, PAUSED_CONDITION), context)
    }
    if (!hasCondition && !wasPaused) return
    context.logger.info({ annotation: PAUSED_ANNOTATION }, 'object is no longer paused')
    const message = `the annotation ${PAUSED_ANNOTATION} was removed`
    context.events.record(object, { type: 'Normal', reason: 'Resumed', message })
  }

  /** Forgets objects that another replica works on. */
  forget(isGone: (key: string) => boolean): void {
    for (const key of [...this.#paused].filter(isGone)) this.#paused.delete(key)
    this.#onCount(this.#paused.size)
  }

  #note(key: ObjectKey, isPausedNow: boolean): void {
    const before = this.#paused.size
    if (isPausedNow) this.#paused.add(formatKey(key))
    else this.#paused.delete(formatKey(key))
    if (this.#paused.size !== before) this.#onCount(this.#paused.size)
  }
}
