/** Puts a report together from outcomes, in whatever order they come. */
import type { Divergence, ExplorationReport, PatternReport, Progress } from '../explore.ts'
import { PATTERNS } from '../patterns/index.ts'
import type { PatternId, PointOutcome } from '../patterns/pattern.ts'

/** Patterns in which nothing goes wrong from outside. */
const WITHOUT_FAULT: ReadonlySet<PatternId> = new Set(['T12', 'T13'])

interface Counts {
  readonly points: number
  readonly chosen: number
  explored: number
  missed: number
  divergences: number
  durationMs: number
}

/** Collects the outcomes of one exploration. */
export class ReportBuilder {
  readonly #patterns = new Map<PatternId, Counts>()
  readonly #divergences: Divergence[] = []
  readonly #operator: string
  readonly #scenario: string
  readonly #seed: number

  constructor(operator: string, scenario: string, seed: number) {
    this.#operator = operator
    this.#scenario = scenario
    this.#seed = seed
  }

  /** How many were found so far. */
  get divergences(): number {
    return this.#divergences.length
  }

  /** @param chosen how many of the points are to be run */
  begin(pattern: PatternId, points: number, chosen: number): void {
    this.#patterns.set(pattern, { points, chosen, explored: 0, missed: 0, divergences: 0, durationMs: 0 })
  }

  /** The undisturbed run went wrong by itself: that is a lack of quiescence, and nothing can be compared. */
  undisturbed(outcome: PointOutcome): void {
    this.begin('T13', 1, 1)
    this.add('T13', 0, 'the undisturbed run', outcome, 0)
  }

  add(pattern: PatternId, point: number, label: string, outcome: PointOutcome, durationMs: number): void {
    const counts = this.#patterns.get(pattern)
    if (counts !== undefined) {
      counts.explored++
      counts.durationMs += durationMs
      if (!outcome.hasStruck && !WITHOUT_FAULT.has(pattern)) counts.missed++
    }
    if (outcome.problems.length === 0) return
    if (counts !== undefined) counts.divergences++
    const { trace, differences, problems } = outcome
    const message = problems.join('; ')
    this.#divergences.push({ pattern, point, seed: this.#seed, label, message, trace, differences })
  }

  /** How far it is, seen from one pattern. */
  progress(pattern: PatternId): Progress {
    const { explored = 0, chosen = 0, divergences = 0 } = this.#patterns.get(pattern) ?? {}
    const all = [...this.#patterns.values()]
    return {
      pattern,
      done: explored,
      total: chosen,
      doneInAll: all.reduce((sum, counts) => sum + counts.explored, 0),
      totalInAll: all.reduce((sum, counts) => sum + counts.chosen, 0),
      divergences,
    }
  }

  report(): ExplorationReport {
    const patterns = PATTERNS.flatMap(({ id, title, coverage }): PatternReport[] => {
      const counts = this.#patterns.get(id)
      if (counts === undefined) return []
      const { chosen: _, durationMs, ...others } = counts
      return [{ pattern: id, title, coverage, ...others, durationMs: Math.round(durationMs) }]
    })
    return {
      operator: this.#operator,
      scenario: this.#scenario,
      seed: this.#seed,
      runs: patterns.reduce((sum, { explored }) => sum + explored, 0),
      patterns,
      divergences: this.#divergences.toSorted((a, b) => order(a.pattern) - order(b.pattern) || a.point - b.point),
    }
  }
}

function order(pattern: PatternId): number {
  return PATTERNS.findIndex(({ id }) => id === pattern)
}
