/** Metrics of controllers, under the names that existing dashboards use, and under short ones. */

import { type Metrics, noMetrics } from '../metrics/registry.ts'
import type { ReconcileOutcome } from './reconcile-record.ts'

/** Seconds; from a reconcile that finds nothing to do to one that waits for an outside world. */
const RECONCILE_BUCKETS = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2,
  3, 5, 10, 30, 60,
]

/** What one controller reports. */
export interface ControllerMetrics {
  started(): void
  ended(outcome: ReconcileOutcome, seconds: number): void
  /** A reconcile ignored its signal and was abandoned. */
  abandoned(): void
  /** A reconcile ended with a conflict again, after several attempts. */
  conflictPersisted(): void
  /** The number of objects that are paused now. */
  paused(count: number): void
}

/**
 * Declares the metrics of the controller called `controller`.
 *
 * @example
 * const metrics = controllerMetrics('webapp', { concurrency: 2, metrics: registry })
 */
export function controllerMetrics(
  controller: string,
  options: { readonly concurrency: number; readonly metrics?: Metrics },
): ControllerMetrics {
  const { concurrency, metrics = noMetrics } = options
  const labels = ['controller'] as const
  const byResult = ['controller', 'result'] as const
  const help = {
    total: 'Reconciles, by result.',
    errors: 'Reconciles that failed. Conflicts are not counted, because the next attempt usually succeeds.',
    seconds: 'Duration of reconciles.',
  }
  const totals = ['controller_runtime_reconcile_total', 'reconcile_total'].map((name) =>
    metrics.counter({ name, help: help.total, labels: byResult }),
  )
  const errors = ['controller_runtime_reconcile_errors_total', 'reconcile_errors_total'].map((name) =>
    metrics.counter({ name, help: help.errors, labels }),
  )
  const seconds = ['controller_runtime_reconcile_time_seconds', 'reconcile_duration_seconds'].map((name) =>
    metrics.histogram({ name, help: help.seconds, labels, buckets: RECONCILE_BUCKETS }),
  )
  const terminal = metrics.counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Reconciles that failed with an error that is not retried.',
    labels,
  })
  const timeouts = metrics.counter({
    name: 'controller_runtime_reconcile_timeouts_total',
    help: 'Reconciles that exceeded their timeout.',
    labels,
  })
  const abandoned = metrics.counter({
    name: 'controller_runtime_reconcile_abandoned_total',
    help: 'Reconciles that did not end after their signal aborted.',
    labels,
  })
  const active = metrics.gauge({
    name: 'controller_runtime_active_workers',
    help: 'Busy workers.',
    labels,
  })
  const maximum = metrics.gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Workers of the controller.',
    labels,
  })
  const conflicts = metrics.counter({
    name: 'reconcile_persistent_conflicts_total',
    help: 'Reconciles that ended with a conflict after several earlier attempts did.',
    labels,
  })
  const paused = metrics.gauge({
    name: 'reconcile_paused_objects',
    help: 'Objects whose reconciles are paused by annotation.',
    labels,
  })
  // Starts at 0: a rate over a series that does not exist yet misses its first increment.
  maximum.set({ controller }, concurrency)
  active.set({ controller }, 0)
  paused.set({ controller }, 0)
  for (const counter of [...errors, terminal, timeouts, abandoned, conflicts]) counter.inc({ controller }, 0)
  for (const counter of totals) {
    for (const result of ['success', 'requeue_after', 'error']) counter.inc({ controller, result }, 0)
  }
  return {
    started: () => active.inc({ controller }),
    ended(outcome, duration) {
      active.dec({ controller })
      const result = resultOf(outcome)
      for (const counter of totals) counter.inc({ controller, result })
      for (const histogram of seconds) histogram.observe({ controller }, duration)
      if (result === 'error') for (const counter of errors) counter.inc({ controller })
      if (outcome === 'terminal') terminal.inc({ controller })
      if (outcome === 'timeout') timeouts.inc({ controller })
    },
    abandoned: () => abandoned.inc({ controller }),
    conflictPersisted: () => conflicts.inc({ controller }),
    paused: (count) => paused.set({ controller }, count),
  }
}

/** The results that dashboards know. */
function resultOf(outcome: ReconcileOutcome): 'success' | 'requeue_after' | 'requeue' | 'error' | 'aborted' | 'paused' {
  if (outcome === 'conflict') return 'requeue'
  return outcome === 'terminal' || outcome === 'timeout' ? 'error' : outcome
}
