/** An operator that eats all memory when it is started again. */
import type { Exploration } from '../../src/index.ts'
import { boxScenario, correctOperator } from './boxes.ts'

export const exploration: Exploration = {
  operator: {
    ...correctOperator,
    name: 'greedy',
    start(place, client) {
      const hoard: number[][] = []
      while (place.identity !== 'greedy-1') hoard.push(new Array(100_000).fill(0.5))
      return correctOperator.start(place, client)
    },
  },
  scenario: boxScenario,
}
