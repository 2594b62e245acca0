/** Finds the shortest scenario that still shows a divergence. */
import { shapeName } from '../choose-points.ts'
import type { Divergence } from '../explore.ts'
import { Explorer } from '../explorer.ts'
import type { Exploration } from '../operator-under-test.ts'

/** Scenarios that are tried for one divergence. */
const MAX_TRIES = 4

/**
 * The names of the steps that are needed: as few as possible from the beginning on. All of them when no shorter scenario
 * shows the same kind of problem.
 *
 * @param isOver no further scenario is tried once it is true
 */
export async function neededSteps(
  { operator, scenario }: Exploration,
  { pattern, shape, problems }: Divergence,
  isOver: () => boolean,
): Promise<readonly string[]> {
  const names = scenario.steps.map(({ name }) => name)
  const kinds = new Set(problems.map(({ kind }) => kind))
  for (let count = 1; count < names.length && count <= MAX_TRIES && !isOver(); count++) {
    const shorter = { ...scenario, steps: scenario.steps.slice(0, count) }
    const explorer = new Explorer({ operator, scenario: shorter })
    const points = await explorer.points(pattern)
    const point = points.findIndex((one) => shapeName(one.shape) === shapeName(shape))
    if (point < 0) continue
    const found = await explorer.run(pattern, point)
    if (found.problems.some(({ kind }) => kinds.has(kind))) return names.slice(0, count)
  }
  return names
}
