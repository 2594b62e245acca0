/** @module The Collector operator. */
export * from './api/collector.ts'
export * from './decode-configuration.ts'
export {
  type CollectorOperator,
  type CollectorOperatorOptions,
  collectorRbac,
  createCollectorOperator,
} from './operator.ts'
export * from './release-key.ts'
export { type ClusterSource, type CollectorSettings, parseSettings, SettingsError } from './settings.ts'
export { completeCollector, type ValidationRules, validateCollector } from './validate-collector.ts'
export { collectorWebhook, WEBHOOK_PATH } from './webhook.ts'
