import { describe, expect, it } from 'vitest'
import { byCoverage, countShapes } from './choose-points.ts'

const shape = (text: string) => {
  const [coarse = '', fine = ''] = text.split(' ')
  return { coarse, fine }
}
const shapes = ['create a', 'create b', 'create a', 'patch a', 'create a', 'create a', 'create a'].map(shape)

describe('which points are tried first', () => {
  it('one of each kind, then one of each object, then the last of each, then the rest', () => {
    expect(byCoverage(shapes)).toEqual([0, 3, 1, 6, 2, 5, 4])
  })

  it('every point comes exactly once', () => {
    expect(byCoverage(shapes).toSorted()).toEqual(shapes.map((_, index) => index))
    expect(byCoverage([])).toEqual([])
  })
})

it('shapes of points are counted by request and object', () => {
  expect(countShapes(shapes)).toBe(3)
})
