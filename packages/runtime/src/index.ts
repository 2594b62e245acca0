/** @module What an operator is built from: cache, queue, controllers, manager, election, webhooks and their helpers. */

// Cache, queue and controllers.

// The manager and what it runs around the controllers.
export * from './logging/logger.ts'
export * from './manager/runnable.ts'
export * from './metrics/registry.ts'
export * from './runtime-error.ts'
