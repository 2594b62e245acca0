import { expect, test } from 'vitest'
import { clientMetrics } from './client-metrics.ts'
import { createMetricsRegistry } from './registry.ts'

test('requests are counted by code and method, failures without a response included', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  const onRequest = clientMetrics(metrics, 'api')
  const request = { verb: 'get', method: 'GET', durationMs: 30 }
  onRequest({ ...request, status: 200 })
  onRequest({ ...request, status: 200 })
  onRequest(request)
  const text = await metrics.expose()
  expect(text).toContain('rest_client_requests_total{code="200",method="GET",host="api"} 2')
  expect(text).toContain('rest_client_requests_total{code="<error>",method="GET",host="api"} 1')
  expect(text).toContain('rest_client_request_duration_seconds_bucket{le="0.025",verb="get",host="api"} 0')
  expect(text).toContain('rest_client_request_duration_seconds_bucket{le="0.05",verb="get",host="api"} 3')
})
