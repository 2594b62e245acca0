/** @module Components: features of a resource, each with everything about it, and the engine that runs them. */

export { STALLED_CONDITION, type StalledReason } from '../engine/stalled.ts'
export * from './component.ts'
export { InvalidComponentsError } from './component-order.ts'
export * from './reconcile-components.ts'
export { Reporter, type StatusOf } from './reporter.ts'
export * from './waiting.ts'
