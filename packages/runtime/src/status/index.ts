/** @module The status of a resource: its conditions, with correct transition times, and how it is written. */
export * from './condition.ts'
export { STALLED_CONDITION, type StalledReason } from './stalled.ts'
export { UnknownStatusFieldsError, writeStatus } from './write-status.ts'
