/** An operator that takes its whole process down when it is started again: its error is uncaught. */
import type { Exploration } from '../../src/index.ts'
import { boxScenario, correctOperator } from './boxes.ts'

export const exploration: Exploration = {
  operator: {
    ...correctOperator,
    name: 'lethal',
    start(place, client) {
      if (place.identity !== 'lethal-1') {
        Promise.reject(new Error('rejected without a handler'))
      }
      return correctOperator.start(place, client)
    },
  },
  scenario: boxScenario,
}
