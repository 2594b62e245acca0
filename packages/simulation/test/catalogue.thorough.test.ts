/** Every point of every pattern for the good operators of the catalogue. */
import { expect, it } from 'vitest'
import { divergenceText, explore } from '../src/index.ts'
import { good } from './catalogue/good.ts'
import { noteScenario } from './catalogue/notes.ts'

it.each(good)('$name survives every fault', { timeout: 600_000 }, async (operator) => {
  const { divergences, patterns } = await explore(operator, noteScenario)
  expect(divergences.map((one) => divergenceText(one, operator.name).slice(0, 2_000))).toEqual([])
  expect(patterns.some(({ points }) => points > 0)).toBe(true)
  expect(patterns.every(({ points, explored, missed }) => points === 0 || explored > missed)).toBe(true)
})
