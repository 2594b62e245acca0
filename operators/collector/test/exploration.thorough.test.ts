import { divergenceText, Explorer, explore, type OperatorUnderTest } from '@reeve/simulation'
import { describe, expect, it } from 'vitest'
import { exploreCollectors, shortLife } from '../exploration/collector.ts'
import type { HelmWorld } from '../exploration/helm-world.ts'
import { actsOnEvents, neverRecovers } from './support/broken-collectors.ts'

const TIMEOUT_MS = 240_000

describe('the Collector operator, with Helm as the world outside, survives', () => {
  const { operator, scenario } = exploreCollectors()
  it('faults all over the life of a Collector', { timeout: TIMEOUT_MS }, async () => {
    // Spread evenly over the points of each pattern; `npm run explore` tries them all.
    const maxPoints = 2
    const report = await explore(operator, scenario, {
      patterns: ['crash-after-write', 'crash-around-call', 'failed-request'],
      maxPoints,
    })
    expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
    expect(report.patterns.map(({ explored, missed }) => explored - missed)).toEqual([maxPoints, maxPoints, maxPoints])
  })

  it('a helm that continues when the operator crashes', { timeout: TIMEOUT_MS }, async () => {
    const outliving = exploreCollectors({ outlivesOperator: true }).operator
    const report = await explore(outliving, shortLife, { patterns: ['crash-around-call'] })
    expect(report.divergences.map((divergence) => divergenceText(divergence, outliving.name))).toEqual([])
    expect(report.runs).toBeGreaterThan(5)
  })
})

describe('replicas that divide the Collectors among themselves survive', () => {
  const { operator, scenario: wholeLife } = exploreCollectors({ shards: 2 })
  it('crashes and the loss of their leases', { timeout: 2 * TIMEOUT_MS }, async () => {
    const maxPoints = 2
    const patterns = ['lost-leadership', 'crash-around-call', 'crash-after-write'] as const
    const report = await explore(operator, shortLife, { patterns, maxPoints })
    expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
    expect(report.patterns.map(({ explored, missed }) => explored - missed)).toEqual([maxPoints, maxPoints, maxPoints])
  })

  it('the loss of their leases while they may still write', { timeout: 2 * TIMEOUT_MS }, async () => {
    const explorer = new Explorer({ operator, scenario: wholeLife })
    const labels = (await explorer.points('lost-leadership')).map(({ label }) => label)
    // The configuration is changed before the deadline of the shard.
    const index = labels.findIndex((label) => label.includes('(create events default/acme-logs'))
    expect((await explorer.run('lost-leadership', index)).problems).toEqual([])
  })
})

describe('a broken operator is caught when it dies around a helm process', () => {
  const broken: readonly [OperatorUnderTest<HelmWorld>, RegExp][] = [
    [neverRecovers, /helm install acme\/log-collector-eu1: record revision 1 as pending-install/],
    [actsOnEvents, /helm install acme\/log-collector-eu1/],
  ]
  it.each(broken)('$name', { timeout: TIMEOUT_MS }, async (operator, where) => {
    const { divergences } = await explore(operator, shortLife, { patterns: ['crash-around-call'], stopAfter: 1 })
    expect(divergences[0]?.pattern).toBe('crash-around-call')
    expect(divergences[0]?.label).toMatch(where)
  })
})
