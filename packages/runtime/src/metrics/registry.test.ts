import { expect, test } from 'vitest'
import { createMetricsRegistry, noMetrics } from './registry.ts'

test('a registry of metrics exposes counters, gauges and histograms in the Prometheus text format', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  metrics.counter({ name: 'requests_total', help: 'Requests.', labels: ['code'] }).inc({ code: 200 }, 3)
  metrics.gauge({ name: 'depth', help: 'Depth.' }).set({}, 7)
  metrics.histogram({ name: 'seconds', help: 'Time.', buckets: [1, 2] }).observe({}, 1.5)
  const text = await metrics.expose()
  expect(text).toContain('requests_total{code="200"} 3')
  expect(text).toContain('depth 7')
  expect(text).toContain('seconds_bucket{le="1"} 0')
  expect(text).toContain('seconds_bucket{le="2"} 1')
  expect(metrics.contentType).toContain('text/plain')
})

test('declaring a metric twice adds to the same one', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  metrics.counter({ name: 'shared_total', help: 'Shared.' }).inc({})
  metrics.counter({ name: 'shared_total', help: 'Shared.' }).inc({})
  expect(await metrics.expose()).toContain('shared_total 2')
})

test('two registries in one process share nothing', async () => {
  const [one, other] = [
    await createMetricsRegistry({ processMetrics: false }),
    await createMetricsRegistry({ processMetrics: false }),
  ]
  one.counter({ name: 'private_total', help: 'Private.' }).inc({})
  expect(await other.expose()).not.toContain('private_total')
})

test('a name cannot change its kind', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  metrics.counter({ name: 'thing', help: 'Counts.' })
  expect(() => metrics.gauge({ name: 'thing', help: 'Measures.' })).toThrow(/already been registered/)
})

test('a gauge may compute its value when it is read', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  let depth = 1
  metrics.gauge({ name: 'live_depth', help: 'Depth.', collect: (gauge) => gauge.set({}, depth) })
  depth = 5
  expect(await metrics.expose()).toContain('live_depth 5')
})

test('every declaration of a shared gauge contributes what it computes', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  for (const queue of ['a', 'b']) {
    metrics.gauge({ name: 'age', help: 'Age.', labels: ['queue'], collect: (gauge) => gauge.set({ queue }, 1) })
  }
  const text = await metrics.expose()
  expect(text).toContain('age{queue="a"} 1')
  expect(text).toContain('age{queue="b"} 1')
})

test('process metrics are present unless disabled', async () => {
  const metrics = await createMetricsRegistry()
  expect(await metrics.expose()).toContain('process_cpu_seconds_total')
})

test('without a registry everything is discarded', () => {
  expect(() => noMetrics.histogram({ name: 'x', help: 'x', labels: ['a'] }).observe({ a: 'b' }, 1)).not.toThrow()
})
