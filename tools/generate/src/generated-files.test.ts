import { expect, it } from 'vitest'
import { generatedFiles, staleFiles } from './generated-files.ts'

it('finds every generated file as committed; run `npm run generate` when it does not', async () => {
  expect(generatedFiles().length).toBeGreaterThan(0)
  expect(await staleFiles()).toEqual([])
})
