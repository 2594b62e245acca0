/** Decides which event a new occurrence belongs to: a repetition, a combination of many alike, or a new one. */
import type { KubeObject, ObjectReference } from '@reeve/kube'
import { EVENT_DEFAULTS } from '../defaults.ts'
import { LruMap } from '../lru-map.ts'

/** What happened to an object, in the words of a controller. */
export interface Occurrence {
  /** `Warning` for what needs attention. @default 'Normal' */
  readonly type?: 'Normal' | 'Warning'
  /** Why, in one CamelCase word that stays the same each time: `ScaledUp`. */
  readonly reason: string
  /** A sentence for people. Must not contain secrets. */
  readonly message: string
  /** What was done, in one CamelCase word. @default the reason */
  readonly action?: string
  /** A second object that the event is about. */
  readonly related?: KubeObject
  /** Who reports it, such as `dynakube-controller`. @default the component of the recorder */
  readonly source?: string
}

/** All occurrences that are shown as one event. */
export interface EventSeries {
  readonly involved: ObjectReference
  readonly related: ObjectReference | undefined
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly source: string | undefined
  /** Of the last occurrence; changes only for a combination. */
  message: string
  count: number
  readonly firstMs: number
  lastMs: number
  /** What the server knows: 0 before the first success. */
  sentCount: number
  /** Name of the event on the server; kept across tries, so that a lost response causes no second event. */
  eventName: string | undefined
  /** The server has it. */
  isCreated: boolean
  /** Waits to be sent: further occurrences only raise the count. */
  isQueued: boolean
}

/** The API rejects longer ones. */
const MAX_MESSAGE_LENGTH = 1_024
const MAX_WORD_LENGTH = 128

interface Group {
  windowStartMs: number
  readonly messages: Set<string>
}

/** Limits of {@link EventSeriesBook}. */
export interface EventSeriesLimits {
  readonly memoryCapacity: number
  readonly aggregateAfter: number
  readonly aggregateWindowMs: number
}

/**
 * Remembers series within bounded memory.
 *
 * *Guarantees*: the same message about the same object raises a count; after `aggregateAfter` different messages with
 * the same reason within the window, further ones go into one combined series; an object that was deleted and created
 * anew starts afresh.
 */
export class EventSeriesBook {
  readonly #limits: EventSeriesLimits
  readonly #series: LruMap<string, EventSeries>
  readonly #groups: LruMap<string, Group>

  constructor(limits: EventSeriesLimits = EVENT_DEFAULTS) {
    this.#limits = limits
    this.#series = new LruMap(limits.memoryCapacity)
    this.#groups = new LruMap(limits.memoryCapacity)
  }

  /** The series that the occurrence belongs to, with the occurrence counted in. */
  add(object: KubeObject, occurrence: Occurrence, nowMs: number): EventSeries {
    const involved = referenceTo(object)
    const related = occurrence.related && referenceTo(occurrence.related)
    const type = occurrence.type ?? 'Normal'
    const reason = occurrence.reason.slice(0, MAX_WORD_LENGTH)
    const action = (occurrence.action ?? reason).slice(0, MAX_WORD_LENGTH)
    const { source } = occurrence
    const groupKey = JSON.stringify([
      identityOf(involved),
      related && identityOf(related),
      type,
      reason,
      action,
      source,
    ])
    const isCombined = this.#isOneOfMany(groupKey, occurrence.message, nowMs)
    const message = (isCombined ? `(combined from similar events): ${occurrence.message}` : occurrence.message).slice(
      0,
      MAX_MESSAGE_LENGTH,
    )
    const series = this.#series.getOrMake(
      `${isCombined ? 'many' : 'one'}${groupKey}${isCombined ? '' : message}`,
      () => ({
        involved,
        related,
        type,
        reason,
        action,
        source,
        message,
        count: 0,
        firstMs: nowMs,
        lastMs: nowMs,
        sentCount: 0,
        eventName: undefined,
        isCreated: false,
        isQueued: false,
      }),
    )
    series.message = message
    series.count++
    series.lastMs = nowMs
    return series
  }

  #isOneOfMany(groupKey: string, message: string, nowMs: number): boolean {
    const { aggregateAfter, aggregateWindowMs } = this.#limits
    const group = this.#groups.getOrMake(groupKey, () => ({ windowStartMs: nowMs, messages: new Set() }))
    if (nowMs - group.windowStartMs >= aggregateWindowMs) {
      group.windowStartMs = nowMs
      group.messages.clear()
    }
    if (group.messages.has(message)) return false
    if (group.messages.size >= aggregateAfter) return true
    group.messages.add(message)
    return false
  }
}

/** Points at an object as events do. */
function referenceTo(object: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  }
}

/** Names one incarnation of one object; its version does not matter. */
export function identityOf({ apiVersion, kind, namespace, name, uid }: ObjectReference): string {
  return [apiVersion, kind, namespace, name, uid].join('|')
}
