import { divergenceText, Explorer, explore, PATTERN_NAMES, type PatternName } from '@reeve/simulation'
import { beforeAll, describe, expect, it } from 'vitest'
import { exploration } from '../exploration/webapp.ts'

/** One of each pattern; `npm run explore` tries them all. */
const POINTS_EACH = 1
const SAMPLES = 6

const { operator, scenario } = exploration

/** One exploration for all patterns: they share the undisturbed runs, which take longer than their points. */
async function reportsOf(patterns: readonly PatternName[], maxPoints: number) {
  const { patterns: reports, divergences } = await explore(operator, scenario, {
    patterns,
    samples: SAMPLES,
    maxPoints,
  })
  return reports.map((report) => ({
    ...report,
    texts: divergences
      .filter(({ pattern }) => pattern === report.pattern)
      .map((divergence) => divergenceText(divergence, operator.name, { samples: SAMPLES })),
  }))
}

describe('the WebApp operator survives', () => {
  const patterns = PATTERN_NAMES.filter((name) => name !== 'crash-around-call' && name !== 'quiescence')
  let reports: Awaited<ReturnType<typeof reportsOf>>
  beforeAll(async () => {
    reports = await reportsOf(patterns, POINTS_EACH)
  }, 240_000)

  it.each(patterns)('%s', (pattern) => {
    const report = reports.find((candidate) => candidate.pattern === pattern)
    expect(report?.texts).toEqual([])
    expect(report).toMatchObject({ explored: POINTS_EACH, missed: 0 })
  })

  // Ten hours with a lease are eighteen thousand renewals: that point is left to `npm run explore`.
  it('quiescence', { timeout: 120_000 }, async () => {
    expect(await reportsOf(['quiescence'], 1)).toMatchObject([{ texts: [], explored: 1, missed: 0 }])
  })

  it('crash-around-call without points: it calls nothing outside the cluster', async () => {
    expect(await new Explorer(exploration).points('crash-around-call')).toEqual([])
  })

  // Created for a deleted WebApp, objects would be garbage-collected and created again, forever.
  it('an old view in which a deleted WebApp still exists', { timeout: 120_000 }, async () => {
    const explorer = new Explorer(exploration)
    const points = await explorer.points('unseen-states')
    const unseenDeletion = points.findIndex(({ label }) => label.includes('DELETED webapps.example.com'))
    const { problems, tookEffect } = await explorer.run('unseen-states', unseenDeletion)
    expect(problems).toEqual([])
    expect(tookEffect).toBe(true)
  })
})
