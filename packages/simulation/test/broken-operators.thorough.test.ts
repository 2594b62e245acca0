import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Divergence,
  divergenceText,
  type ExplorationReport,
  explore,
  type OperatorUnderTest,
  PATTERN_NAMES,
  type PatternName,
  type ProblemKind,
  runScenario,
} from '../src/index.ts'
import { boxScenario, correctOperator } from './support/boxes.ts'
import {
  assumesOwnWriteIsVisible,
  deletesWithoutPreconditions,
  drawsNames,
  forgetsRemovedKey,
  makesForTheDead,
  patchesForNothing,
  removesFinalizerTooEarly,
  reportsEveryLook,
} from './support/broken-boxes.ts'

/** Each with the pattern that catches it and the reason, and with a pattern that must not be bothered by it. */
const broken: readonly [OperatorUnderTest, PatternName, ProblemKind, PatternName?][] = [
  [deletesWithoutPreconditions, 'stale-view', 'repeated-write', 'relist'],
  [assumesOwnWriteIsVisible, 'late-own-write', 'state-differs', 'relist'],
  [forgetsRemovedKey, 'declared-states', 'state-differs', 'relist'],
  [makesForTheDead, 'unseen-states', 'runaway', 'crash-after-write'],
  [patchesForNothing, 'undisturbed', 'activity-at-rest'],
  [drawsNames, 'crash-after-write', 'state-differs', 'relist'],
  [removesFinalizerTooEarly, 'crash-after-write', 'state-differs', 'relist'],
]

const textsOf = (divergences: readonly Divergence[]) =>
  divergences.map((divergence) => divergenceText(divergence, 'boxes').slice(0, 2_000))

describe('a broken operator is caught', () => {
  it.each(broken)('$name by $1', { timeout: 120_000 }, async (operator, pattern, kind) => {
    const { divergences } = await explore(operator, boxScenario, { patterns: [pattern], stopAfter: 1 })
    expect(divergences[0]?.pattern).toBe(pattern)
    expect(divergences[0]?.problems.map((problem) => problem.kind)).toContain(kind)
  })

  it('that writes in every reconcile, without any fault', { timeout: 120_000 }, async () => {
    const { problems } = await runScenario(reportsEveryLook, boxScenario, { seed: 1 })
    // The runtime stops it, and names the field.
    const [first] = problems
    expect(first).toMatchObject({ kind: 'reconcile-error', message: expect.stringContaining('status') })
  })

  const withInnocent = broken.flatMap(([operator, , , innocent]) => (innocent ? [[operator, innocent] as const] : []))
  it.each(withInnocent)('and $name not by $1', { timeout: 120_000 }, async (operator, pattern) => {
    const { divergences } = await explore(operator, boxScenario, { patterns: [pattern], maxPoints: 1 })
    expect(textsOf(divergences)).toEqual([])
  })

  it('and the smallest walk that shows a forgotten key is found', { timeout: 120_000 }, async () => {
    const options = { patterns: ['declared-states'], stopAfter: 1 } as const
    const { divergences } = await explore(forgetsRemovedKey, boxScenario, options)
    expect(divergences[0]?.message).toMatch(
      /the smallest walk that shows it: \{"text":"full","items":\{"[a-z]+":"\d"\}\}/,
    )
  })
})

describe('the same operator without the bugs', () => {
  const patterns = PATTERN_NAMES.filter((name) => name !== 'manual-changes')
  let report: ExplorationReport
  // One exploration for all patterns: they share the undisturbed runs.
  beforeAll(async () => {
    report = await explore(correctOperator, boxScenario, { patterns, samples: 6, maxPoints: 3 })
  }, 120_000)

  it.each(patterns)('passes %s', (pattern) => {
    expect(textsOf(report.divergences.filter((divergence) => divergence.pattern === pattern))).toEqual([])
    expect(report.patterns.find((one) => one.pattern === pattern)?.explored).toBeGreaterThan(0)
  })
})
