/** @module Events: counted, combined and sent in the background. */
export { EVENT_DEFAULTS } from '../defaults.ts'
export { ApiEventRecorder, type EventRecorder, type EventRecorderOptions, recorderFor } from './event-recorder.ts'
export type { Occurrence } from './event-series.ts'
