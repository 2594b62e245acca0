/** Finds the shortest scenario that still shows a divergence. */
import { shapeName } from '../choose-points.ts'
import type { Divergence } from '../explore.ts'
import { Explorer } from '../explorer.ts'
import type { Exploration } from '../operator-under-test.ts'

/** Scenarios that are tried for one divergence. */
const MAX_TRIES = 4

/** Tries the first steps of a scenario. What the shorter ones do without a fault is found out once. */
export class Shrinker {
  readonly #exploration: Exploration
  readonly #isOver: () => boolean
  /** By the number of their steps. */
  readonly #explorers = new Map<number, Explorer>()

  /** @param isOver no further scenario is tried once it is true */
  constructor(exploration: Exploration, isOver: () => boolean) {
    this.#exploration = exploration
    this.#isOver = isOver
  }

  /**
   * The names of the steps that are needed: as few as possible from the beginning on. All of them when no shorter scenario
   * shows the same kind of problem.
   */
  async neededSteps({ pattern, shape, problems }: Divergence): Promise<readonly string[]> {
    const names = this.#exploration.scenario.steps.map(({ name }) => name)
    const kinds = new Set(problems.map(({ kind }) => kind))
    for (let count = 1; count < names.length && count <= MAX_TRIES && !this.#isOver(); count++) {
      const explorer = this.#explorerOf(count)
      const points = await explorer.points(pattern)
      const point = points.findIndex((one) => shapeName(one.shape) === shapeName(shape))
      if (point < 0) continue
      const found = await explorer.run(pattern, point)
      if (found.problems.some(({ kind }) => kinds.has(kind))) return names.slice(0, count)
    }
    return names
  }

  #explorerOf(count: number): Explorer {
    const { operator, scenario } = this.#exploration
    const known = this.#explorers.get(count)
    if (known !== undefined) return known
    const explorer = new Explorer({ operator, scenario: { ...scenario, steps: scenario.steps.slice(0, count) } })
    this.#explorers.set(count, explorer)
    return explorer
  }
}
