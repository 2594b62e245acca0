/** @module The Collector operator. */
export * from './api/collector.ts'
export * from './decode-configuration.ts'
export * from './release-key.ts'
export { type ValidationRules, validateCollector } from './validate-collector.ts'
