import { expect, it } from 'vitest'
import { CountingMetrics } from './counting-metrics.ts'

it('a counting registry records counters and gauges by their labels, in any order', async () => {
  const metrics = new CountingMetrics()
  const failures = metrics.counter<'resource' | 'reason'>({ name: 'failures_total' })
  failures.inc({ resource: 'pods', reason: 'silent' })
  failures.inc({ reason: 'silent', resource: 'pods' }, 2)
  metrics.gauge({ name: 'depth' }).set({}, 7)
  expect(metrics.value('failures_total', { reason: 'silent', resource: 'pods' })).toBe(3)
  expect(metrics.value('failures_total', { reason: 'closed', resource: 'pods' })).toBe(0)
  expect([metrics.has('failures_total'), metrics.has('other_total')]).toEqual([true, false])
  expect(await metrics.expose()).toContain('depth 7\n')
})
