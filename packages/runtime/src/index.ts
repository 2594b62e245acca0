/** @module What an operator is built from: cache, queue, controllers, manager, election, webhooks and their helpers. */

// The manager and what it runs around the controllers.
export * from './conditions/condition.ts'
export * from './logging/create-logger.ts'
export * from './logging/logger.ts'
export { redact } from './logging/redact.ts'
export * from './manager/runnable.ts'
export * from './metrics/registry.ts'
export * from './owner-references/owner-reference.ts'
// Cache, queue and controllers.
export * from './queue/backoff.ts'
export * from './queue/reason.ts'
export * from './queue/token-bucket.ts'
export type { AddOptions, Priority, WorkItem, WorkQueueOptions } from './queue/work-item.ts'
export * from './queue/work-queue.ts'
export * from './runtime-error.ts'
export * from './timestamp.ts'
