import { expect, it } from 'vitest'
import { inRounds } from './explore.ts'

it('an exploration takes one point of each pattern in turn, new shapes first, when time is short', () => {
  const point = (coarse: string) => ({ label: coarse, shape: { coarse, fine: '' } })
  const infos = new Map([
    ['crash-after-write', [point('create'), point('create'), point('update')]],
    ['relist', [point('ADDED')]],
  ] as const)
  const tasks = [...infos].flatMap(([pattern, points]) => points.map((_, index) => ({ pattern, point: index })))
  expect(inRounds(tasks, infos).map(({ pattern, point: index }) => `${pattern} ${index}`)).toEqual([
    'crash-after-write 0',
    'relist 0',
    'crash-after-write 2',
    'crash-after-write 1',
  ])
})
