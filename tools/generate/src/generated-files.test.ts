import { expect, it } from 'vitest'
import { generatedFiles, staleFiles } from './generated-files.ts'

it('generated files match their definitions; if not, run `npm run generate`', async () => {
  expect(generatedFiles().length).toBeGreaterThan(0)
  expect(await staleFiles()).toEqual([])
})
