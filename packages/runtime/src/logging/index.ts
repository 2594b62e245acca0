/** @module Structured logs without secrets. */
export * from './create-logger.ts'
export { type Logger, silentLogger } from './logger.ts'
export { className, redact } from './redact.ts'
