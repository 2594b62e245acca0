import { expect, it } from 'vitest'
import type { Divergence, ExplorationReport } from '../explore.ts'
import { divergenceText, reportTable } from './report-text.ts'

const divergence: Divergence = {
  pattern: 'T1',
  point: 7,
  seed: 3,
  label: 'killed after request 9',
  message: 'the state differs',
  trace: [{ atMs: 1_500, instance: 1, kind: 'request', text: 'create services default/shop' }],
  differences: [{ object: 'services default/shop', field: '', expected: 'exists', actual: undefined }],
}

const counted = { coverage: 'exhaustive', points: 0, explored: 0, missed: 0, divergences: 0, durationMs: 0 } as const

const report: ExplorationReport = {
  operator: 'webapp',
  scenario: 'life',
  seed: 3,
  runs: 76,
  patterns: [
    { ...counted, pattern: 'T1', title: 'crash', points: 76, explored: 76, divergences: 1, durationMs: 9_870 },
    { ...counted, pattern: 'T2', title: 'outside' },
  ],
  divergences: [divergence],
}

it('aligns the table and says which patterns do not apply', () => {
  expect(reportTable([report]).split('\n')).toEqual([
    'OPERATOR  PATTERN           COVERAGE        POINTS  RUNS  MISSED  DIVERGENCES   TIME',
    'webapp    T1       crash    exhaustive          76    76       0            1  9.9 s',
    'webapp    T2       outside  not applicable       0     0       0            0  0.0 s',
  ])
})

it('shows a divergence with its trace, its difference and the command that replays it', () => {
  const text = divergenceText(divergence, 'webapp', { budget: 5 })
  expect(text).toContain('webapp T1 point 7: killed after request 9')
  expect(text).toContain('- services default/shop is missing')
  expect(text).toContain('1.500s op-1   request  create services default/shop')
  expect(text).toContain('replay: npm run explore -- --operator webapp --pattern T1 --point 7 --seed 3 --budget 5')
})
