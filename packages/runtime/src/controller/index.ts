/** @module A controller with a reconcile function of its own, and what it is told about each reconcile. */
export { type BackoffOptions, DEFAULT_BACKOFF, exponentialBackoff } from '../queue/backoff.ts'
export { Controller, controller } from './controller.ts'
export * from './controller-error.ts'
export { CONTROLLER_DEFAULTS, type ControllerEnvironment, type ControllerOptions } from './controller-options.ts'
export * from './predicates.ts'
export * from './reconcile-record.ts'
export type * from './reconcile-request.ts'
export { type MappedSource, type Mapper, type Source, toController } from './sources.ts'
