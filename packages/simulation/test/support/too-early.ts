/** A broken operator as the command line finds it. */
import type { Exploration } from '../../src/index.ts'
import { boxScenario } from './boxes.ts'
import { removesFinalizerTooEarly } from './broken-boxes.ts'

export const exploration: Exploration = { operator: removesFinalizerTooEarly, scenario: boxScenario }
