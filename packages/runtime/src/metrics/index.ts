/** @module Counters, gauges and histograms in the Prometheus format. */
export { clientMetrics, type ObservedRequest } from './client-metrics.ts'
export { MetricsGuard } from './metrics-guard.ts'
export * from './registry.ts'
