import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { PatternName, ProblemKind } from '../../src/index.ts'
import { exploreProcess } from '../../src/process/explore-process.ts'

const path = fileURLToPath(new URL('notes.yaml', import.meta.url))

function explored(broken: string, patterns: readonly PatternName[], stopAfter = 1) {
  return exploreProcess({
    path,
    env: { BROKEN: broken },
    patterns,
    parallel: { min: 3, max: 3 },
    stopAfter,
    shrinks: false,
  })
}

/** How the operator is broken, which pattern shows it, and as what. */
const BROKEN: readonly (readonly [how: string, pattern: PatternName, kind: ProblemKind])[] = [
  ['no-owner', 'undisturbed', 'left-behind'],
  ['hot', 'undisturbed', 'activity-at-rest'],
  ['status-first', 'crash-after-write', 'state-differs'],
  ['forgets', 'failed-request', 'state-differs'],
  ['forgets', 'manual-changes', 'state-differs'],
  ['collects', 'stale-view', 'repeated-write'],
  ['deaf', 'relist', 'state-differs'],
  ['generates', 'late-own-write', 'state-differs'],
  ['replaces', 'foreign-writes', 'foreign-write-lost'],
  ['takes-over', 'name-taken', 'foreign-object'],
  ['keeps-keys', 'declared-states', 'state-differs'],
  ['stubborn', 'shutdown', 'instance-ended'],
  ['acts-on-events', 'unseen-states', 'state-differs'],
  ['acts-on-events', 'crash-at-event', 'state-differs'],
  ['never-reconnects', 'dead-connection', 'state-differs'],
  ['keeps-leading', 'lost-leadership', 'late-write'],
  ['stamps', 'quiescence', 'activity-at-rest'],
  ['guards-late', 'deleted-midway', 'left-behind'],
]

describe('the exploration of a process', () => {
  it.concurrent.each(BROKEN)('shows by a fault that an operator is broken: %s under %s', async (how, pattern, kind) => {
    const { divergences } = await explored(how, [pattern])
    const kinds = divergences.flatMap(({ problems }) => problems.map((problem) => problem.kind))
    expect(kinds).toContain(kind)
  })

  it.concurrent('finds nothing in an operator that is correct', async () => {
    const patterns: readonly PatternName[] = [
      'crash-after-write',
      'stale-view',
      'relist',
      'failed-request',
      'name-taken',
    ]
    const report = await explored('', patterns, Number.POSITIVE_INFINITY)
    expect(report.divergences).toEqual([])
    expect(report.runs).toBeGreaterThan(30)
  })
})
