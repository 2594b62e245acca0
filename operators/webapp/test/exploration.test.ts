import { divergenceText, Explorer, explore, PATTERN_IDS } from '@reeve/simulation'
import { describe, expect, it } from 'vitest'
import { exploration } from '../exploration/webapp.ts'

/** Spread evenly over the points of each pattern; `npm run explore` tries them all. */
const POINTS_EACH = 2

const { operator, scenario } = exploration

describe('the WebApp operator survives', () => {
  it.each(PATTERN_IDS.filter((id) => id !== 'T2'))('%s', { timeout: 120_000 }, async (pattern) => {
    // Ten hours with a lease are eighteen thousand renewals: those are left to `npm run explore`.
    const maxPoints = pattern === 'T13' ? 1 : POINTS_EACH
    const report = await explore(operator, scenario, { patterns: [pattern], budget: 6, maxPoints })
    expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name, { budget: 6 }))).toEqual([])
    expect(report.patterns[0]).toMatchObject({ explored: maxPoints, missed: 0 })
  })

  it('T2 without points: it calls nothing outside the cluster', async () => {
    const { patterns } = await explore(operator, scenario, { patterns: ['T2'] })
    expect(patterns[0]?.points).toBe(0)
  })

  // Made for a WebApp that is gone, they would go to the garbage collector and be made again, without end.
  it('an old view in which a deleted WebApp still lives', { timeout: 120_000 }, async () => {
    const explorer = new Explorer(exploration)
    const labels = await explorer.labels('T5')
    const unseenDeletion = labels.findIndex((label) => label.includes('DELETED webapps.example.com'))
    const { problems, hasStruck } = await explorer.run('T5', unseenDeletion)
    expect(problems).toEqual([])
    expect(hasStruck).toBe(true)
  })
})
