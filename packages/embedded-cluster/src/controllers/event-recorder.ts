/** Events about the actions of controllers, as shown by `kubectl describe`. */

import type { ClusterApi } from '../api/cluster-api.ts'
import { type Clock, timestamp } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import { isAlreadyExists, isNamespaceTerminating, type OnError } from './control-loop.ts'
import { fnv1a } from './hash.ts'
import { type ClusterObject, namespaceOf } from './kinds/meta.ts'

/** Options of {@link EventRecorder}. */
export interface EventRecorderOptions {
  readonly clock: Clock
  readonly isEnabled: boolean
  readonly onError: OnError
}

/** The content of an event. */
export interface EventContent {
  /** `Warning` for problems that may need attention. */
  readonly type?: 'Normal' | 'Warning'
  /** Such as `FailedScheduling`. */
  readonly reason: string
  readonly message: string
  /** The component that reports it, such as `deployment-controller`. */
  readonly source: string
}

/**
 * Writes events. Repeated events on the same object are one Event with a count.
 *
 * *Guarantee*: never rejects. The reported work is done and must not be repeated because recording an event failed.
 */
export class EventRecorder {
  readonly #api: ClusterApi
  readonly #options: EventRecorderOptions

  constructor(api: ClusterApi, options: EventRecorderOptions) {
    this.#api = api
    this.#options = options
  }

  async record(object: ClusterObject, content: EventContent): Promise<void> {
    if (!this.#options.isEnabled) return
    const { uid, name: objectName } = object.metadata
    const namespace = namespaceOf(object) || 'default'
    const id = fnv1a([uid, content.type ?? '', content.reason, content.message].join('\n')).toString(16)
    const name = `${objectName}.${id}`
    try {
      if (this.#api.get('events', namespace, name) === undefined) {
        await this.#api.create('events', this.#event(object, content, namespace, name))
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

  #event(object: ClusterObject, content: EventContent, namespace: string, name: string): JsonObject {
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
      type: content.type ?? 'Normal',
      reason: content.reason,
      message: content.message,
      source: { component: content.source },
      reportingComponent: content.source,
      reportingInstance: '',
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    }
  }
}
