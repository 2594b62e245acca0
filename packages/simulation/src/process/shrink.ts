/** Finds the shortest scenario that still shows a divergence. */
import { shapeName } from '../choose-points.ts'
import { Explorer, type ExplorerOptions } from '../explore.ts'
import type { Exploration } from '../operator-under-test.ts'
import type { Divergence } from '../report/exploration-report.ts'

/** Scenarios that are tried for one divergence. */
const MAX_TRIES = 4

/** Walks through declared states that are tried for one divergence. */
const MAX_SHRINK_RUNS = 8

/** A divergence, and what is needed to see it. */
export interface Shrunk {
  readonly divergence: Divergence
  /** The names of the steps, as few as possible from the beginning on. Empty for a walk, which does without them. */
  readonly steps: readonly string[]
}

/** Tries the first steps of a scenario. What the shorter ones do without a fault is found out once. */
export class Shrinker {
  readonly #exploration: Exploration
  readonly #isOver: () => boolean
  readonly #options: ExplorerOptions
  /** By the number of their steps. */
  readonly #explorers = new Map<number, Explorer>()

  /** @param isOver no further scenario is tried once it is true */
  constructor(exploration: Exploration, isOver: () => boolean, options: ExplorerOptions) {
    this.#exploration = exploration
    this.#isOver = isOver
    this.#options = options
  }

  /** The divergence with as little as possible: as it is when nothing less shows the same kind of problem. */
  async shrunk(divergence: Divergence): Promise<Shrunk> {
    if (isWalk(divergence)) return { divergence: await this.#shorterWalk(divergence), steps: [] }
    return { divergence, steps: await this.#neededSteps(divergence) }
  }

  async #neededSteps({ pattern, shape, problems }: Divergence): Promise<readonly string[]> {
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

  async #shorterWalk(divergence: Divergence): Promise<Divergence> {
    if (this.#isOver()) return divergence
    const { pattern, point, problems } = divergence
    const explorer = new Explorer(this.#exploration, { ...this.#options, maxShrinkRuns: MAX_SHRINK_RUNS })
    const { problems: shown, trace, differences, endStates } = await explorer.run(pattern, point)
    if (shown[0]?.kind !== problems[0]?.kind) return divergence
    const message = shown.map((one) => one.message).join('; ')
    return { ...divergence, problems: shown, message, trace, differences, ...(endStates && { endStates }) }
  }

  #explorerOf(count: number): Explorer {
    const { operator, scenario } = this.#exploration
    const known = this.#explorers.get(count)
    if (known !== undefined) return known
    const shorter = { operator, scenario: { ...scenario, steps: scenario.steps.slice(0, count) } }
    const explorer = new Explorer(shorter, this.#options)
    this.#explorers.set(count, explorer)
    return explorer
  }
}

/** Whether it is one of a walk through declared states, which does not need the steps of the scenario. */
export function isWalk({ pattern }: Divergence): boolean {
  return pattern === 'declared-states'
}
