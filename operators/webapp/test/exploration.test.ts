import { divergenceText, Explorer, explore, PATTERN_NAMES } from '@reeve/simulation'
import { describe, expect, it } from 'vitest'
import { exploration } from '../exploration/webapp.ts'

/** Of each pattern, those that differ most; `npm run explore` tries them all. */
const POINTS_EACH = 2

const { operator, scenario } = exploration

describe('the WebApp operator survives', () => {
  it.each(PATTERN_NAMES.filter((name) => name !== 'crash-around-call'))('%s', { timeout: 120_000 }, async (pattern) => {
    // Ten hours with a lease are eighteen thousand renewals: those are left to `npm run explore`.
    const maxPoints = pattern === 'quiescence' ? 1 : POINTS_EACH
    const report = await explore(operator, scenario, { patterns: [pattern], budget: 6, maxPoints })
    expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name, { budget: 6 }))).toEqual([])
    expect(report.patterns[0]).toMatchObject({ explored: maxPoints, missed: 0 })
  })

  it('crash-around-call without points: it calls nothing outside the cluster', async () => {
    const { patterns } = await explore(operator, scenario, { patterns: ['crash-around-call'] })
    expect(patterns[0]?.points).toBe(0)
  })

  // Created for a deleted WebApp, they would be garbage-collected and created again, forever.
  it('an old view in which a deleted WebApp still lives', { timeout: 120_000 }, async () => {
    const explorer = new Explorer(exploration)
    const points = await explorer.points('unseen-states')
    const unseenDeletion = points.findIndex(({ label }) => label.includes('DELETED webapps.example.com'))
    const { problems, tookEffect } = await explorer.run('unseen-states', unseenDeletion)
    expect(problems).toEqual([])
    expect(tookEffect).toBe(true)
  })
})
