/** @module Components: features of a resource, each with everything about it, and the engine that runs them. */

export * from './component.ts'
export {
  ComponentEngine,
  type ComponentOptions,
  type ReconcileReport,
  type ReconcileSummary,
} from './component-engine.ts'
export { InvalidComponentsError } from './component-order.ts'
export { Reporter, type StatusOf } from './reporter.ts'
export * from './waiting.ts'
