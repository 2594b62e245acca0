import { expect, it } from 'vitest'
import { readReport } from './spec-report.ts'

const names = new Set(['[sig-apps] Job should run', '[sig-apps] Job should stop', '[sig-apps] Job should wait'])
const entry = (leaf: string, State: string, rest: object = {}) => ({
  ContainerHierarchyTexts: ['[sig-apps] Job'],
  LeafNodeText: leaf,
  State,
  RunTime: 2e9,
  ...rest,
})

it('the report of specs tells passed, failed and unfinished specs apart', () => {
  const Failure = { Message: 'no pods', Location: { FileName: 'job.go', LineNumber: 7 } }
  const results = readReport(
    [
      {
        SpecReports: [
          entry('should run', 'passed'),
          entry('should stop', 'failed', { Failure }),
          entry('should wait', 'skipped'),
          entry('of another run', 'skipped'),
        ],
      },
    ],
    names,
  )
  expect(results.get('[sig-apps] Job should run')).toEqual({ outcome: 'passed', seconds: 2 })
  expect(results.get('[sig-apps] Job should stop')?.message).toBe('no pods\nat job.go:7')
  expect(results.has('[sig-apps] Job should wait')).toBe(false)
})

it('the report of specs counts a spec that skips itself as failed: it did not check anything', () => {
  const Failure = { Message: 'Requires at least 2 nodes' }
  const results = readReport([{ SpecReports: [entry('should run', 'skipped', { Failure })] }], names)
  expect(results.get('[sig-apps] Job should run')?.message).toBe('skipped: Requires at least 2 nodes')
})

it('the report of specs fails all specs if the set-up failed', () => {
  const setUp = {
    ContainerHierarchyTexts: null,
    LeafNodeText: '',
    State: 'failed',
    RunTime: 0,
    Failure: { Message: 'no nodes' },
  }
  const results = readReport([{ SpecReports: [setUp] }], names)
  expect([...results.values()].map(({ message }) => message)).toEqual(
    Array(3).fill('the set-up of the suite failed: no nodes'),
  )
})
