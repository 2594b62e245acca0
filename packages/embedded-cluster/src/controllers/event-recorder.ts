/** Events about what the controllers did, as `kubectl describe` shows them. */
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import type { ClusterApi } from '../rest/cluster-api.ts'
import { isAlreadyExists, isNamespaceTerminating, type OnError } from './control-loop.ts'
import { fnv1a } from './hash.ts'
import { type ClusterObject, namespaceOf } from './kinds/meta.ts'
import { timestamp } from './timestamp.ts'

/** Options of {@link EventRecorder}. */
export interface EventRecorderOptions {
  readonly clock: Clock
  readonly isEnabled: boolean
  readonly onError: OnError
}

/** What happened. */
export interface Happening {
  /** `Warning` for what a person may have to look at. */
  readonly type?: 'Normal' | 'Warning'
  /** Such as `FailedScheduling`. */
  readonly reason: string
  readonly message: string
  /** Who says so, such as `deployment-controller`. */
  readonly source: string
}

/**
 * Writes events. The same happening on the same object is one event with a count.
 *
 * *Guarantee*: never rejects. An event is a courtesy; the work it tells about is done and must not be repeated
 * because telling failed.
 */
export class EventRecorder {
  readonly #api: ClusterApi
  readonly #options: EventRecorderOptions

  constructor(api: ClusterApi, options: EventRecorderOptions) {
    this.#api = api
    this.#options = options
  }

  async record(object: ClusterObject, happening: Happening): Promise<void> {
    if (!this.#options.isEnabled) return
    const { uid, name: objectName } = object.metadata
    const namespace = namespaceOf(object) || 'default'
    const id = fnv1a([uid, happening.type ?? '', happening.reason, happening.message].join('\n')).toString(16)
    const name = `${objectName}.${id}`
    try {
      if (this.#api.get('events', namespace, name) === undefined) {
        await this.#api.create('events', this.#event(object, happening, namespace, name))
      } else await this.#countUp(namespace, name)
    } catch (error) {
      if (isNamespaceTerminating(error)) return
      if (isAlreadyExists(error)) return
      this.#options.onError('events', `${namespace}/${name}`, error)
    }
  }

  async #countUp(namespace: string, name: string): Promise<void> {
    const event = this.#api.get('events', namespace, name)
    if (event === undefined) return
    const count = typeof event.count === 'number' ? event.count + 1 : 2
    await this.#api.update('events', { ...event, count, lastTimestamp: timestamp(this.#options.clock.now()) })
  }

  #event(object: ClusterObject, happening: Happening, namespace: string, name: string): JsonObject {
    const now = timestamp(this.#options.clock.now())
    const { apiVersion, kind, metadata } = object
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: {
        apiVersion,
        kind,
        name: metadata.name,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      },
      type: happening.type ?? 'Normal',
      reason: happening.reason,
      message: happening.message,
      source: { component: happening.source },
      reportingComponent: happening.source,
      reportingInstance: '',
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    }
  }
}
