/** What the operator does when its view still shows a Collector that is already deleted. */
import { Explorer } from '@reeve/simulation'
import { expect, it } from 'vitest'
import { exploreCollectors, shortLife } from '../exploration/collector.ts'

it('nothing is installed for a Collector that is already deleted', { timeout: 120_000 }, async () => {
  const explorer = new Explorer({ operator: exploreCollectors().operator, scenario: shortLife })
  const points = [...(await explorer.points('stale-view')).entries()].filter(([, { label }]) =>
    /^restarted at event \d+ \(DELETED collectors/.test(label),
  )
  expect(points.length).toBeGreaterThan(1)
  for (const [index, { label }] of points) {
    const { problems, tookEffect } = await explorer.run('stale-view', index)
    expect([label, tookEffect, problems]).toEqual([label, true, []])
  }
})
