/** @module Structured logs without secrets. */
export * from './create-logger.ts'
export { type Logger, silentLogger } from './logger.ts'
export { redact } from './redact.ts'
