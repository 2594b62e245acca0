/** Events that the operator itself recorded about resources: known without the right to list events. */
import type { KubeObject } from '@reeve/kube'
import type { Occurrence } from '@reeve/runtime'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { ResourceEvent } from '../wire.ts'
import type { Redact } from './secrets.ts'

/** Keeps a bounded number of events of a bounded number of objects, by uid. */
export class RecordedEvents {
  readonly #byUid = new Map<string, ResourceEvent[]>()

  record({ metadata: { uid } }: KubeObject, occurrence: Occurrence, atMs: number, redact: Redact): void {
    if (uid === undefined) return
    const { type = 'Normal', reason } = occurrence
    const message = redact(occurrence.message)
    const events = this.#byUid.get(uid) ?? []
    const known = events.findIndex((one) => one.type === type && one.reason === reason && one.message === message)
    const [repeated] = known < 0 ? [] : events.splice(known, 1)
    events.unshift({ type, reason, message, count: (repeated?.count ?? 0) + 1, lastMs: atMs })
    this.#byUid.delete(uid)
    this.#byUid.set(uid, events.slice(0, CONSOLE_LIMITS.events))
    const [oldest] = this.#byUid.keys()
    if (this.#byUid.size > CONSOLE_LIMITS.resourcesWithEvents && oldest !== undefined) this.#byUid.delete(oldest)
  }

  /** Newest first. */
  of(uid: string): readonly ResourceEvent[] {
    return this.#byUid.get(uid) ?? []
  }
}
