/** Dependencies shared by all controllers: the API, the clock, random numbers, and shared indexes. */

import type { ClusterApi } from '../api/cluster-api.ts'
import type { Clock } from '../clock.ts'
import { ClusterView } from './cluster-view.ts'
import type { OnError } from './control-loop.ts'
import { EventRecorder } from './event-recorder.ts'
import { PodIndex } from './pod-index.ts'

/** Shared by the controllers of one cluster. */
export interface ControllerContext {
  readonly api: ClusterApi
  readonly clock: Clock
  readonly random: () => number
  readonly onError: OnError
  readonly yieldToProcess: (() => Promise<void>) | undefined
  readonly view: ClusterView
  readonly pods: PodIndex
  readonly events: EventRecorder
}

/** Options of {@link createContext}. */
export interface ContextOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly onError: OnError
  readonly yieldToProcess?: (() => Promise<void>) | undefined
  /** Whether to record events, as shown by `kubectl describe`. */
  readonly recordEvents: boolean
}

/** Creates the shared dependencies of the controllers of one cluster. */
export function createContext(api: ClusterApi, options: ContextOptions): ControllerContext {
  const { clock, random, onError, yieldToProcess, recordEvents } = options
  const view = new ClusterView(api, onError)
  const events = new EventRecorder(api, { clock, isEnabled: recordEvents, onError })
  return { api, clock, random, onError, yieldToProcess, view, pods: new PodIndex(view), events }
}
