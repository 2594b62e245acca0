/** Assembles a report from outcomes in any order. */
import { countShapes } from '../choose-points.ts'
import type { Divergence, ExplorationReport, PatternReport, Progress } from '../explore.ts'
import type { ExplorationSubject, PointTask } from '../explore-with.ts'
import type { PointInfo } from '../explorer.ts'
import { PATTERNS } from '../patterns/index.ts'
import type { PointOutcome, Shape } from '../patterns/pattern.ts'
import { PATTERN_NAMES, type PatternName } from '../patterns/pattern-names.ts'

/** Patterns in which nothing is injected that could take effect. */
const FAULTLESS: ReadonlySet<PatternName> = new Set(PATTERNS.filter((one) => one.isFaultless).map(({ name }) => name))

interface Counts {
  readonly points: readonly PointInfo[]
  readonly chosen: number
  readonly exploredShapes: Shape[]
  readonly missedPoints: { readonly point: number; readonly label: string }[]
  explored: number
  divergences: number
  durationMs: number
}

/** Collects the outcomes of one exploration. */
export class ReportBuilder {
  readonly #patterns = new Map<PatternName, Counts>()
  readonly #divergences: Divergence[] = []
  readonly #subject: ExplorationSubject

  constructor(subject: ExplorationSubject) {
    this.#subject = subject
  }

  /** How many were found so far. */
  get divergences(): number {
    return this.#divergences.length
  }

  /** @param chosen how many of the points are to be run */
  begin(pattern: PatternName, points: readonly PointInfo[], chosen: number): void {
    const counts = { explored: 0, divergences: 0, durationMs: 0 }
    this.#patterns.set(pattern, { points, chosen, exploredShapes: [], missedPoints: [], ...counts })
  }

  /** Leaves a pattern out of the report. */
  forget(pattern: PatternName): void {
    this.#patterns.delete(pattern)
  }

  add({ pattern, point }: PointTask, { label, shape }: PointInfo, outcome: PointOutcome, durationMs: number): void {
    const { trace, differences, endStates, problems, tookEffect } = outcome
    const counts = this.#patterns.get(pattern)
    if (counts !== undefined) {
      counts.explored++
      counts.durationMs += durationMs
      counts.exploredShapes.push(shape)
      if (!tookEffect && !FAULTLESS.has(pattern)) counts.missedPoints.push({ point, label })
      if (problems.length > 0) counts.divergences++
    }
    if (problems.length === 0) return
    const message = problems.map((problem) => problem.message).join('; ')
    const { seed } = this.#subject
    const ended = endStates && { endStates }
    this.#divergences.push({ pattern, point, seed, label, shape, problems, message, trace, differences, ...ended })
  }

  /** How far it is, seen from one pattern. */
  progress(pattern: PatternName): Progress {
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
    const patterns = PATTERNS.flatMap(({ name, title, coverage }): PatternReport[] => {
      const counts = this.#patterns.get(name)
      if (counts === undefined) return []
      const { points, explored, divergences, durationMs } = counts
      const missed = counts.missedPoints.toSorted((one, other) => one.point - other.point)
      return [
        {
          pattern: name,
          title,
          coverage,
          points: points.length,
          explored,
          shapes: countShapes(points.map(({ shape }) => shape)),
          exploredShapes: countShapes(counts.exploredShapes),
          missed: missed.length,
          missedPoints: missed.map(({ point, label }) => `${point}: ${label}`),
          divergences,
          durationMs: Math.round(durationMs),
        },
      ]
    })
    return {
      ...this.#subject,
      runs: patterns.reduce((sum, { explored }) => sum + explored, 0),
      patterns,
      divergences: this.#divergences.toSorted(
        (one, other) => order(one.pattern) - order(other.pattern) || one.point - other.point,
      ),
    }
  }
}

function order(pattern: PatternName): number {
  return PATTERN_NAMES.indexOf(pattern)
}
