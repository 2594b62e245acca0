/** The metrics of the operator. */
import type { Counter, Histogram, Metrics } from '@reeve/runtime/metrics'
import { noMetrics } from '@reeve/runtime/metrics'
import { type Collector, PHASES } from './api/collector.ts'

/** What Helm does to a release. */
export type HelmAction = 'install' | 'upgrade' | 'rollback' | 'recover' | 'uninstall'

/** The metrics that components update. */
export interface CollectorMetrics {
  readonly actions: Histogram<'action' | 'outcome'>
  readonly failures: Counter<'reason'>
}

/** Helm takes from a fraction of a second to minutes. */
const ACTION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/**
 * Declares the metrics.
 *
 * @param collectors all Collectors of the cache, at the time the metrics are read
 */
export function collectorMetrics(
  metrics: Metrics = noMetrics,
  collectors: () => readonly Collector[],
): CollectorMetrics {
  metrics.gauge({
    name: 'collector_releases',
    help: 'Collectors by the state of their release.',
    labels: ['state'],
    collect(gauge) {
      const all = collectors()
      for (const state of PHASES) {
        gauge.set({ state }, all.filter(({ status }) => (status?.phase ?? 'Progressing') === state).length)
      }
    },
  })
  return {
    actions: metrics.histogram({
      name: 'collector_action_duration_seconds',
      help: 'Duration of Helm commands, by action and outcome.',
      labels: ['action', 'outcome'],
      buckets: ACTION_BUCKETS,
    }),
    failures: metrics.counter({
      name: 'collector_failures_total',
      help: 'Failures that reached the status of a Collector, by reason.',
      labels: ['reason'],
    }),
  }
}
