/**
 * @module What a first operator needs. Everything else is in subpaths named after their folder, such as
 * `@reeve/runtime/cache`; the README has the table.
 */
export type { CacheReader } from './cache/cache-reader.ts'
export type { Component } from './components/component.ts'
export type { ReconcileReport, ReconcileSummary } from './components/component-engine.ts'
export { Reporter } from './components/reporter.ts'
export { waiting } from './components/waiting.ts'
export { TerminalError } from './controller/controller-error.ts'
export { watch } from './controller/sources.ts'
export { type DesiredObject, desired } from './engine/desired-object.ts'
export type { Occurrence } from './events/event-series.ts'
export { createLogger } from './logging/create-logger.ts'
export { type Logger, silentLogger } from './logging/logger.ts'
export { withDependencies } from './operator/controller-definition.ts'
export {
  type CreatedOperator,
  defineOperator,
  type Operator,
  type OperatorOptions,
} from './operator/define-operator.ts'
export { RuntimeError } from './runtime-error.ts'
export { type Condition, getCondition, setCondition } from './status/condition.ts'
export { formatTime } from './timestamp.ts'
export { type AdmissionRequest, allow, deny, mutate } from './webhooks/admission-review.ts'
export { mutatingWebhook, validatingWebhook } from './webhooks/admission-webhook.ts'
export type { WebhookRoute } from './webhooks/webhook-route.ts'
