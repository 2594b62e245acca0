import { expect, it } from 'vitest'
import type { Divergence, ExplorationReport } from './exploration-report.ts'
import { divergencesText, divergenceText, missedText, reportTable, summaryLine } from './report-text.ts'

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

it('the text of a report aligns the table and says which patterns do not apply', () => {
  expect(reportTable([report]).split('\n')).toEqual([
    'OPERATOR  PATTERN               COVERAGE        POINTS  RUNS  SHAPES  MISSED  DIVERGENCES  RUN TIME',
    'webapp    T1 crash-after-write  partial             76    70   18/20       1            1     9.9 s',
    'webapp    T2 crash-around-call  not applicable       0     0     0/0       0            0     0.0 s',
  ])
})

it('the text of a report lists points whose fault did not take effect, and says how much was covered', () => {
  expect(missedText([report])).toBe('missed: webapp crash-after-write point 3: killed after request 4\n')
  expect(summaryLine([report], 9_900)).toBe('70 of 76 points (18 of 20 shapes) in 9.9 s, 69 took effect, 1 divergences')
})

it('the text of a report shows problems of a divergence that look alike once, such as one after each step', () => {
  const failed = (count: number) => ({
    kind: 'reconcile-error' as const,
    message: `reconciles failed, ${count} in all`,
  })
  const problems = [failed(5), { kind: 'goal-not-reached' as const, message: 'not ready' }, failed(1), failed(2)]
  const [, ...lines] = divergenceText({ ...divergence, problems }, 'webapp').split('\n')
  expect(lines.slice(0, 3)).toEqual([
    '  reconcile-error: reconciles failed, 5 in all (and 2 more like this)',
    '  goal-not-reached: not ready',
    expect.stringContaining('services default/shop'),
  ])
})

it('the text of a report shows a divergence with its trace, its difference and the command that replays it', () => {
  const text = divergenceText(divergence, 'webapp', { samples: 5 })
  expect(text).toContain('webapp crash-after-write point 7: killed after request 9')
  expect(text).toContain('state-differs: the runs differ')
  expect(text).toContain('- services default/shop: exists only in the undisturbed run')
  expect(text).toContain('1.500s op-1   request  create services default/shop')
  expect(text).toContain(
    'replay: npm run explore -- --operator webapp --pattern crash-after-write --point 7 --seed 3 --samples 5',
  )
})

it('the text of a report prints divergences of one cause once, with where the others are and how to leave impossible states out', () => {
  const impossible = (point: number, from: number): Divergence => ({
    ...divergence,
    pattern: 'declared-states',
    point,
    label: `random walk ${point}`,
    problems: [
      {
        kind: 'reconcile-error',
        message: `reconciles failed, ${point} in all: spec.from: ${from} is after spec.to; the smallest walk that shows it: {"from":${from}}`,
      },
    ],
    differences: [],
  })
  const found = [impossible(1, 5), impossible(7, 3), impossible(12, 1), divergence]
  const text = divergencesText(found, 'ranges')
  expect(text.match(/reconcile-error/g)).toHaveLength(1)
  expect(text).toContain(
    'the same as point 1 in 2 more, which likely have the same cause:\n    point 7: random walk 7\n    point 12:',
  )
  expect(text).toMatch(/`accepts`[\s\S]*`complete`/)
  expect(text).toContain('killed after request 9')
  expect(divergenceText(divergence, 'ranges')).not.toContain('`accepts`')
  expect(summaryLine([{ ...report, divergences: found }], 1_000)).toContain('4 divergences, which look like 2')
})

it('the text of a report prints every divergence that differs in what is wrong or where', () => {
  const others: readonly Divergence[] = [
    divergence,
    { ...divergence, point: 8, problems: [{ kind: 'repeated-write', message: 'the runs differ' }] },
    {
      ...divergence,
      point: 9,
      differences: [{ ...divergence.differences[0], object: 'secrets default/shop' } as never],
    },
  ]
  expect(divergencesText(others, 'webapp').match(/replay:/g)).toHaveLength(3)
})
