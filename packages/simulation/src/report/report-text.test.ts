import { expect, it } from 'vitest'
import type { Divergence, ExplorationReport } from '../explore.ts'
import { divergenceText, missedText, reportTable, summaryLine } from './report-text.ts'

const divergence: Divergence = {
  pattern: 'crash-after-write',
  point: 7,
  seed: 3,
  shape: { coarse: 'create services right after its response', fine: 'default/shop' },
  label: 'killed after request 9',
  problems: [{ kind: 'state-differs', message: 'the runs differ' }],
  message: 'the runs differ',
  trace: [{ atMs: 1_500, instance: 1, kind: 'request', text: 'create services default/shop' }],
  differences: [{ object: 'services default/shop', field: '', undisturbed: 'exists', disturbed: undefined }],
}

const counted = {
  coverage: 'exhaustive',
  points: 0,
  explored: 0,
  shapes: 0,
  exploredShapes: 0,
  missed: 0,
  missedPoints: [],
  divergences: 0,
  durationMs: 0,
} as const

const report: ExplorationReport = {
  operator: 'webapp',
  scenario: 'life',
  seed: 3,
  runs: 70,
  patterns: [
    {
      ...counted,
      pattern: 'crash-after-write',
      title: 'crash',
      points: 76,
      explored: 70,
      shapes: 20,
      exploredShapes: 18,
      missed: 1,
      missedPoints: ['3: killed after request 4'],
      divergences: 1,
      durationMs: 9_870,
    },
    { ...counted, pattern: 'crash-around-call', title: 'outside' },
  ],
  divergences: [divergence],
}

it('aligns the table and says which patterns do not apply', () => {
  expect(reportTable([report]).split('\n')).toEqual([
    'OPERATOR  PATTERN               COVERAGE        POINTS  RUNS  SHAPES  MISSED  DIVERGENCES  RUN TIME',
    'webapp    T1 crash-after-write  partial             76    70   18/20       1            1     9.9 s',
    'webapp    T2 crash-around-call  not applicable       0     0     0/0       0            0     0.0 s',
  ])
})

it('lists points whose fault did not take effect, and says how much was covered', () => {
  expect(missedText([report])).toBe('missed: webapp crash-after-write point 3: killed after request 4\n')
  expect(summaryLine([report], 9_900)).toBe('70 of 76 points (18 of 20 shapes) in 9.9 s, 69 took effect, 1 divergences')
})

it('shows a divergence with its trace, its difference and the command that replays it', () => {
  const text = divergenceText(divergence, 'webapp', { budget: 5 })
  expect(text).toContain('webapp crash-after-write point 7: killed after request 9')
  expect(text).toContain('state-differs: the runs differ')
  expect(text).toContain('- services default/shop: exists only in the undisturbed run')
  expect(text).toContain('1.500s op-1   request  create services default/shop')
  expect(text).toContain(
    'replay: npm run explore -- --operator webapp --pattern crash-after-write --point 7 --seed 3 --budget 5',
  )
})
