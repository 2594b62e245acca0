/** Metrics of the events recorder. */
import { type Metrics, noMetrics } from '../metrics/registry.ts'

/** Why an event did not reach the server. */
export type EventDropReason = 'queue_full' | 'rate_limited' | 'refused' | 'unreachable' | 'stopped'

/** What the recorder reports. */
export interface EventMetrics {
  sent(): void
  dropped(reason: EventDropReason): void
}

/** Declares `events_sent_total` and `events_dropped_total{reason}`. */
export function eventMetrics(metrics: Metrics = noMetrics): EventMetrics {
  const sent = metrics.counter({ name: 'events_sent_total', help: 'Events created or updated on the server.' })
  const dropped = metrics.counter({
    name: 'events_dropped_total',
    help: 'Events that did not reach the server, by reason.',
    labels: ['reason'],
  })
  return { sent: () => sent.inc({}), dropped: (reason) => dropped.inc({ reason }) }
}
