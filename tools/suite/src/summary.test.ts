import { expect, test } from 'vitest'
import { countSkips, slowest } from './summary.ts'

test('skipped tests are counted by the innermost reason in their titles, or by what the test said', () => {
  const { lines, unexplained } = countSkips([
    { file: 'a.test.ts', titles: ['the chart (skipped without helm)', 'renders'] },
    { file: 'a.test.ts', titles: ['the chart (skipped without helm)', 'installs (v4)'] },
    { file: 'b.test.ts', titles: ['mounting (skipped: needs root)', 'binds'] },
    { file: 'c.test.ts', titles: ['memory'], note: 'no cgroups' },
    { file: 'd.test.ts', titles: ['a driver', 'starts (again)'] },
  ])
  expect(lines).toEqual(['2 skipped: without helm', '1 skipped: needs root', '1 skipped: no cgroups'])
  expect(unexplained).toEqual(['d.test.ts > a driver > starts (again)'])
})

test('the slowest files come first', () => {
  const files = [1, 30, 2].map((seconds) => ({ file: `${seconds}.test.ts`, ms: seconds * 1_000 }))
  expect(slowest(files, 2)).toEqual(['  30.0 s  30.test.ts', '   2.0 s  2.test.ts'])
})
