import { expect, it } from 'vitest'
import { exposedNames, metricNames } from './index.ts'

it.each([
  ['sum(workqueue_depth{name="webapp"}) > 100', ['workqueue_depth']],
  ['histogram_quantile(0.99, sum by (le, action) (rate(a_seconds_bucket[5m])))', ['a_seconds_bucket']],
  ['sum(rate(errors_total[10m])) / sum(rate(all_total[10m])) > 0.1', ['errors_total', 'all_total']],
  ['memory_bytes and on (job, instance) status{name="x and y"}', ['memory_bytes', 'status']],
  ['absent(status{name="o"} == 1)', ['status']],
])('the metrics of %s are found', (expression, names) => {
  expect(metricNames(expression)).toEqual(names)
})

it('chartExpressions knows the series of a histogram', () => {
  const scrape = '# HELP d Duration.\n# TYPE d histogram\nd_bucket{le="1"} 0\n# TYPE c counter\nc 1\n'
  expect([...exposedNames(scrape)]).toEqual(['d', 'd_bucket', 'd_sum', 'd_count', 'c'])
})
