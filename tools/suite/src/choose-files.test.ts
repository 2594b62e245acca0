import { expect, test } from 'vitest'
import { chooseFiles, parseSlice } from './choose-files.ts'

const files = ['a.test.ts', 'b.test.ts', 'c.test.ts']
const choice = { named: [], slice: undefined, all: () => files, changed: () => ['a.ts', 'b.test.ts'] }

test('slices have every file once', () => {
  const slices = [1, 2].map((index) => chooseFiles({ ...choice, slice: { index, count: 2 } }))
  expect(slices).toEqual([['a.test.ts', 'c.test.ts'], ['b.test.ts']])
})

test('named files come before everything else, changed test files are the default', () => {
  expect(chooseFiles({ ...choice, named: ['packages/runtime'] })).toEqual(['packages/runtime'])
  expect(chooseFiles(choice)).toEqual(['b.test.ts'])
})

test.each(['', '0/3', '4/3', '1', 'a/b'])('the slice %j is rejected', (text) => {
  expect(parseSlice(text)).toBeNull()
})
