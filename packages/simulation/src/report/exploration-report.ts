/** What an exploration found: the report, and how it is assembled from outcomes in any order. */
import { countShapes } from '../choose-points.ts'
import type { Difference, EndState } from '../compare/difference.ts'
import type { Problem } from '../judge/problem.ts'
import { PATTERNS } from '../patterns/index.ts'
import type { Coverage, Point, PointOutcome, Shape } from '../patterns/pattern.ts'
import { PATTERN_NAMES, type PatternName } from '../patterns/pattern-names.ts'
import type { TraceEntry } from '../world/trace.ts'

/** How far an exploration is: reported when a pattern begins and after every run. */
export interface Progress {
  readonly pattern: PatternName
  /** Runs of the pattern. */
  readonly done: number
  readonly total: number
  /** Runs of all patterns. */
  readonly doneInAll: number
  readonly totalInAll: number
  /** Of the pattern, so far. */
  readonly divergences: number
}

/** A run with problems, or whose end state differs from the undisturbed run. */
export interface Divergence {
  readonly pattern: PatternName
  readonly point: number
  readonly seed: number
  /** Where the fault was injected. */
  readonly label: string
  readonly problems: readonly Problem[]
  /** The problems in sentences. */
  readonly message: string
  /** What happened around the fault, in order. */
  readonly trace: readonly TraceEntry[]
  /** How the end states of the disturbed and the undisturbed run differ. */
  readonly differences: readonly Difference[]
  /** What the point has in common with the same point in another exploration. */
  readonly shape: Shape
  /** The objects that differ, in both end states. Absent when the runs ended alike. */
  readonly endStates?: readonly EndState[]
  /** Of a process: the steps that are needed to see it; none for a walk through declared states, which has its own. */
  readonly steps?: readonly string[]
}

/** What was tried of one pattern. */
export interface PatternReport {
  readonly pattern: PatternName
  readonly title: string
  readonly coverage: Coverage
  /** Points that exist; 0 when the pattern does not apply to the operator. */
  readonly points: number
  /** Points that were run. */
  readonly explored: number
  /** Different requests and events among all points, and among those that were run. */
  readonly shapes: number
  readonly exploredShapes: number
  /** Of the runs, those in which the fault did not take effect. */
  readonly missed: number
  /** Their labels. */
  readonly missedPoints: readonly string[]
  readonly divergences: number
  /** Real time of its runs, one after the other. */
  readonly durationMs: number
}

/** What an exploration found. */
export interface ExplorationReport {
  readonly operator: string
  readonly scenario: string
  readonly seed: number
  readonly runs: number
  readonly patterns: readonly PatternReport[]
  readonly divergences: readonly Divergence[]
  /** Of a process: what showed once and not again. */
  readonly unconfirmed?: readonly Unconfirmed[]
}

/** A point that showed something once, and not again. */
export interface Unconfirmed {
  readonly pattern: PatternName
  readonly label: string
  readonly message: string
  /** Whether the time was over before it could be repeated. */
  readonly isCutOff: boolean
}

/** One point to run. */
export interface PointTask {
  readonly pattern: PatternName
  readonly point: number
}

/** What is known of a point without running it. */
export type PointInfo = Pick<Point, 'label' | 'shape'>

/** What a report is about. */
export interface ExplorationSubject {
  readonly operator: string
  readonly scenario: string
  readonly seed: number
}

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
