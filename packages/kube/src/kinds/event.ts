/** Events about objects. Both APIs serve the same stored events. */
import type { KubeObject } from '../objects.ts'

/** A reference to an object, or to a field of one. */
export interface ObjectReference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

/** `v1` Event. */
export interface CoreEvent extends KubeObject {
  readonly involvedObject: ObjectReference
  readonly reason?: string
  readonly message?: string
  readonly type?: 'Normal' | 'Warning'
  readonly count?: number
  readonly firstTimestamp?: string
  readonly lastTimestamp?: string
  readonly eventTime?: string
  readonly source?: { readonly component?: string; readonly host?: string }
  readonly action?: string
  readonly related?: ObjectReference
  readonly reportingComponent?: string
  readonly reportingInstance?: string
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
}

/** `events.k8s.io/v1` Event. */
export interface EventV1 extends KubeObject {
  readonly regarding?: ObjectReference
  readonly reason?: string
  readonly note?: string
  readonly type?: 'Normal' | 'Warning'
  readonly action?: string
  readonly eventTime: string | null
  readonly related?: ObjectReference
  readonly reportingController?: string
  readonly reportingInstance?: string
  readonly series?: { readonly count: number; readonly lastObservedTime: string }
  readonly deprecatedCount?: number
  readonly deprecatedFirstTimestamp?: string
  readonly deprecatedLastTimestamp?: string
  readonly deprecatedSource?: { readonly component?: string; readonly host?: string }
}
