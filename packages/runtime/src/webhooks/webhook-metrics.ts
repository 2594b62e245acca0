/** Metrics of webhooks, under the names that dashboards for controller-runtime know. */
import { type Metrics, noMetrics } from '../metrics/registry.ts'

/** What the router reports. */
export interface WebhookMetrics {
  /** A request arrived. Returns the function to call with the HTTP status of the response. */
  begin(webhook: string): (code: number, durationMs: number) => void
}

/**
 * Declares `controller_runtime_webhook_requests_total{webhook,code}`, `controller_runtime_webhook_latency_seconds` and
 * `controller_runtime_webhook_requests_in_flight`. `webhook` is the path of a route, so its values are bounded.
 */
export function webhookMetrics(metrics: Metrics = noMetrics): WebhookMetrics {
  const requests = metrics.counter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Requests to webhooks by HTTP status.',
    labels: ['webhook', 'code'],
  })
  const latency = metrics.histogram({
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'Duration of webhook requests.',
    labels: ['webhook'],
  })
  const inFlight = metrics.gauge({
    name: 'controller_runtime_webhook_requests_in_flight',
    help: 'Webhook requests in progress.',
    labels: ['webhook'],
  })
  return {
    begin: (webhook) => {
      inFlight.inc({ webhook })
      return (code, durationMs) => {
        inFlight.dec({ webhook })
        requests.inc({ webhook, code })
        latency.observe({ webhook }, durationMs / 1_000)
      }
    },
  }
}
