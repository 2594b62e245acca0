import { expect, it } from 'vitest'
import { withResults } from './write-results.ts'

it('written results replace those of an earlier run and nothing else', () => {
  const first = withResults('# Benchmarks\n\nWhat is measured.\n', 'peers', 'one')
  expect(first).toBe('# Benchmarks\n\nWhat is measured.\n\n## peers\n\n<!-- begin peers -->\none\n<!-- end peers -->\n')
  const both = withResults(first, 'csi', 'volumes')
  expect(withResults(both, 'peers', 'two')).toBe(both.replace('one', 'two'))
})
