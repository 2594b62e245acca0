/** Metrics of informers. The only label is the resource: its values are bounded by the kinds an operator uses. */

import { type Gauge, type Metrics, noMetrics } from '../metrics/registry.ts'
import type { InformerFailure, InformerHealth } from './informer-health.ts'

/** What informers report. */
export interface InformerMetrics {
  listed(resource: string, how: 'paged' | 'streamed'): void
  watchOpened(resource: string): void
  event(resource: string, type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'): void
  failed(resource: string, reason: InformerFailure): void
  handlerFailed(resource: string): void
}

/**
 * Declares the metrics of a cache; `sample` returns the state of all informers and is called on each scrape.
 *
 * @example
 * const metrics = informerMetrics(registry, () => informers.map((informer) => informer.health()))
 */
export function informerMetrics(
  metrics: Metrics = noMetrics,
  sample: () => readonly InformerHealth[],
): InformerMetrics {
  const declare = { labels: ['resource'] as const }
  const seen = new Set<string>()
  const sum = (of: (health: InformerHealth) => number) => (gauge: Gauge<'resource'>) => {
    const sums = new Map<string, number>([...seen].map((resource) => [resource, 0]))
    for (const health of sample()) {
      seen.add(health.resource)
      sums.set(health.resource, (sums.get(health.resource) ?? 0) + of(health))
    }
    for (const [resource, value] of sums) gauge.set({ resource }, value)
  }
  metrics.gauge({
    ...declare,
    name: 'informer_objects',
    help: 'Objects in the cache.',
    collect: sum(({ objects }) => objects),
  })
  metrics.gauge({
    ...declare,
    name: 'informer_own_writes_pending',
    help: 'Own writes that the watch has not confirmed yet.',
    collect: sum(({ ownWrites }) => ownWrites),
  })
  metrics.gauge({
    ...declare,
    name: 'informer_unhealthy',
    help: 'Informers that are not synced or have been failing for too long.',
    collect: sum(({ isHealthy }) => (isHealthy ? 0 : 1)),
  })
  const lists = metrics.counter({
    name: 'informer_lists_total',
    help: 'Complete lists fetched, by method.',
    labels: ['resource', 'how'],
  })
  const watches = metrics.counter({ ...declare, name: 'informer_watches_total', help: 'Watches opened.' })
  const events = metrics.counter({
    name: 'informer_events_total',
    help: 'Watch events received.',
    labels: ['resource', 'type'],
  })
  const failures = metrics.counter({
    name: 'informer_failures_total',
    help: 'Failed lists and watches, by reason.',
    labels: ['resource', 'reason'],
  })
  const handlerErrors = metrics.counter({
    ...declare,
    name: 'informer_handler_errors_total',
    help: 'Exceptions thrown by event handlers.',
  })
  return {
    listed: (resource, how) => lists.inc({ resource, how }),
    watchOpened: (resource) => watches.inc({ resource }),
    event: (resource, type) => events.inc({ resource, type }),
    failed: (resource, reason) => failures.inc({ resource, reason }),
    handlerFailed: (resource) => handlerErrors.inc({ resource }),
  }
}
