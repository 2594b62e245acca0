/** Metrics of work queues, under the names that existing dashboards of controllers use. */
import { type Metrics, noMetrics } from '../metrics/registry.ts'

/** Seconds; a healthy queue takes milliseconds, an overloaded one minutes. */
const QUEUE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_000]

/** The state of a queue when the metrics are read. */
export interface QueueSample {
  readonly depth: number
  /** Sum over all items in progress. */
  readonly unfinishedSeconds: number
  readonly longestRunningSeconds: number
}

/** What one queue reports. */
export interface QueueMetrics {
  added(): void
  retried(): void
  /** A key was rejected because the queue is full. */
  rejected(): void
  taken(waitedSeconds: number): void
  finished(workedSeconds: number): void
}

/**
 * Declares the metrics of the queue called `name`; `sample` is called on each scrape.
 *
 * @example
 * const metrics = queueMetrics('webapp', registry, () => queue.sample())
 */
export function queueMetrics(name: string, metrics: Metrics = noMetrics, sample: () => QueueSample): QueueMetrics {
  const labels = ['name'] as const
  const declare = { labels }
  metrics.gauge({
    ...declare,
    name: 'workqueue_depth',
    help: 'Keys waiting for a worker.',
    collect: (gauge) => gauge.set({ name }, sample().depth),
  })
  metrics.gauge({
    ...declare,
    name: 'workqueue_unfinished_work_seconds',
    help: 'Total duration of work in progress in seconds; growth means stuck workers.',
    collect: (gauge) => gauge.set({ name }, sample().unfinishedSeconds),
  })
  metrics.gauge({
    ...declare,
    name: 'workqueue_longest_running_processor_seconds',
    help: 'Duration of the longest work in progress.',
    collect: (gauge) => gauge.set({ name }, sample().longestRunningSeconds),
  })
  const adds = metrics.counter({ ...declare, name: 'workqueue_adds_total', help: 'Keys that became ready.' })
  const retries = metrics.counter({ ...declare, name: 'workqueue_retries_total', help: 'Keys added again to retry.' })
  const rejections = metrics.counter({
    ...declare,
    name: 'workqueue_rejected_total',
    help: 'Keys rejected because the queue is full.',
  })
  const waits = metrics.histogram({
    ...declare,
    name: 'workqueue_queue_duration_seconds',
    help: 'Time from ready to a worker.',
    buckets: QUEUE_BUCKETS,
  })
  const works = metrics.histogram({
    ...declare,
    name: 'workqueue_work_duration_seconds',
    help: 'Time from a worker to done.',
    buckets: QUEUE_BUCKETS,
  })
  return {
    added: () => adds.inc({ name }),
    retried: () => retries.inc({ name }),
    rejected: () => rejections.inc({ name }),
    taken: (seconds) => waits.observe({ name }, seconds),
    finished: (seconds) => works.observe({ name }, seconds),
  }
}
