/** @module A controller with its own reconcile function, and the record of each reconcile. */

export type { DescribeWrite, ObservedWrite, WriteChange, WriteRecord } from '../client/reconcile-client.ts'
export { type BackoffOptions, DEFAULT_BACKOFF, exponentialBackoff } from '../queue/backoff.ts'
export { Controller } from './controller.ts'
export * from './controller-error.ts'
export {
  CONTROLLER_DEFAULTS,
  type ControllerEnvironment,
  type ControllerOptions,
  type Engine,
  type Sources,
} from './controller-options.ts'
export { isPaused, PAUSED_ANNOTATION, PAUSED_CONDITION } from './pause.ts'
export * from './predicates.ts'
export * from './reconcile-record.ts'
export type * from './reconcile-request.ts'
export { noRuntimeWatches, type RuntimeWatch, type RuntimeWatches } from './runtime-watches.ts'
export { type MappedSource, type Mapper, type Source, toController, watch } from './sources.ts'
