/** Reports as text: an aligned table, and for each divergence what a person needs to see and to replay it. */

import { shapeName } from '../choose-points.ts'
import { formatDifference } from '../compare/difference.ts'
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import type { ProblemKind } from '../judge/problem.ts'
import { patternNumber } from '../patterns/pattern-names.ts'
import { formatEntry } from '../world/trace.ts'
import type { Divergence, ExplorationReport, PatternReport } from './exploration-report.ts'

/** Lines of trace and fields of difference that are printed; the JSON output has all that was kept. */
const MAX_TRACE_LINES = 40
const MAX_DIFFERENCES = 10
/** Divergences that look like another one that are printed, in a line each. */
const MAX_ALIKE = 20
/** Missed points of one pattern that are printed. */
const MAX_MISSED = 5

/**
 * The table of one or more reports.
 *
 * @example
 * console.log(reportTable([await explore(operator, scenario)]))
 */
export function reportTable(reports: readonly ExplorationReport[]): string {
  const head = ['OPERATOR', 'PATTERN', 'COVERAGE', 'POINTS', 'RUNS', 'SHAPES', 'MISSED', 'DIVERGENCES', 'RUN TIME']
  const rows = reports.flatMap(({ operator, patterns }) =>
    patterns.map((pattern) => [
      operator,
      `${patternNumber(pattern.pattern)} ${pattern.pattern}`,
      coverageText(pattern),
      String(pattern.points),
      String(pattern.explored),
      `${pattern.exploredShapes}/${pattern.shapes}`,
      String(pattern.missed),
      String(pattern.divergences),
      `${(pattern.durationMs / 1_000).toFixed(1)} s`,
    ]),
  )
  const table = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  const isNumber = (column: number) => column >= 3
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return table.map(line).join('\n')
}

/** How much of a pattern was tried: what it promises only if all of its points were run. */
export function coverageText({ points, explored, coverage }: PatternReport): string {
  if (points === 0) return 'not applicable'
  return explored < points && coverage !== 'bounded' ? 'partial' : coverage
}

/** The points whose fault did not take effect: they do not count. Empty when there is none. */
export function missedText(reports: readonly ExplorationReport[]): string {
  const lines = reports.flatMap(({ operator, patterns }) =>
    patterns.flatMap(({ pattern, missedPoints }) => {
      const shown = missedPoints.slice(0, MAX_MISSED)
      const more = missedPoints.length - shown.length
      return [
        ...shown.map((point) => `missed: ${operator} ${pattern} point ${point}`),
        ...(more > 0 ? [`missed: ${operator} ${pattern}, ${more} more with --output json`] : []),
      ]
    }),
  )
  return lines.map((line) => `${line}\n`).join('')
}

/** How much was tried, of how much, and what was found. */
export function summaryLine(reports: readonly ExplorationReport[], durationMs: number): string {
  const sum = (count: (pattern: PatternReport) => number) =>
    reports.flatMap(({ patterns }) => patterns).reduce((total, pattern) => total + count(pattern), 0)
  const runs = sum(({ explored }) => explored)
  const effective = runs - sum(({ missed }) => missed)
  const points = sum(({ points: all }) => all)
  const shapes = `${sum(({ exploredShapes }) => exploredShapes)} of ${sum((pattern) => pattern.shapes)} shapes`
  const found = reports.reduce((total, report) => total + report.divergences.length, 0)
  const causes = reports.reduce((total, report) => total + byCause(report.divergences).length, 0)
  const seconds = (durationMs / 1_000).toFixed(1)
  const alike = causes < found ? `, which look like ${causes}` : ''
  return `${runs} of ${points} points (${shapes}) in ${seconds} s, ${effective} took effect, ${found} divergences${alike}`
}

/** What the command that replays a point needs besides the point. */
export interface ReplayOptions {
  /** As the exploration had it: it decides which points a sampled pattern has. @default 24 */
  readonly samples?: number
  /** The module of an operator that is not found automatically. */
  readonly module?: string
  /** Of an operator in its own process: the beginning of the command. Its points are named by their shapes. */
  readonly process?: string
}

/** The command that runs one point again. */
export function replayCommand(
  { pattern, point, seed, shape }: Divergence,
  operator: string,
  { samples = EXPLORATION_DEFAULTS.samples, module, process }: ReplayOptions = {},
): string {
  if (process !== undefined) return `${process} --pattern ${pattern} --only ${quoted(shapeName(shape))}`
  const which = module === undefined ? `--operator ${operator}` : `--module ${module}`
  const sampled = samples === EXPLORATION_DEFAULTS.samples ? '' : ` --samples ${samples}`
  return `npm run explore -- ${which} --pattern ${pattern} --point ${point} --seed ${seed}${sampled}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/**
 * Divergences that look alike, in lists that are not empty: the same problems of the same objects, but for numbers and
 * names. They most likely have one cause.
 */
function byCause(divergences: readonly Divergence[]): readonly (readonly Divergence[])[] {
  return [...Map.groupBy(divergences, causeOf).values()]
}

function causeOf({ pattern, problems, differences }: Divergence): string {
  const [first] = problems
  const kinds = new Set(problems.map(({ kind }) => kind))
  // What follows is the walk, which differs from point to point.
  const message = first?.message.replace(/; the (smallest )?walk that shows it: [\s\S]*/, '') ?? ''
  const fields = differences.map(({ object, field }) => `${object} ${field}`)
  return JSON.stringify([pattern, [...kinds].toSorted(), alike(message), [...new Set(fields.map(alike))].toSorted()])
}

/** The same text for all that differ in numbers and quoted names only. */
function alike(text: string): string {
  return text.replace(/"[^"]*"/g, '""').replace(/\d+/g, '0')
}

/** All divergences: of those that look alike the first in full, and where the others are. */
export function divergencesText(
  divergences: readonly Divergence[],
  operator: string,
  options: ReplayOptions = {},
): string {
  return byCause(divergences)
    .map(([first, ...others]) => {
      if (first === undefined) return ''
      const points = others.map(({ point, label }) => `    point ${point}: ${label}`)
      const shown = points.slice(0, MAX_ALIKE)
      const more = points.length - shown.length
      const full = `${divergenceText(first, operator, options)}\n\n`
      if (points.length === 0) return full
      const head = `  the same as point ${first.point} in ${points.length} more, which likely have the same cause:`
      const rest = more > 0 ? [`    … ${more} more with --output json`] : []
      return `${full}${[head, ...shown, ...rest].join('\n')}\n\n`
    })
    .join('')
}

/** Problems of a state that cannot be applied. */
const NOT_APPLIED: ReadonlySet<ProblemKind> = new Set(['reconcile-error', 'rejected-request', 'goal-not-reached'])

/** What to do about a generated state that no user could declare. */
function hints({ pattern, problems }: Divergence, { process }: ReplayOptions): readonly string[] {
  // The scenario of a process has neither.
  const isAboutState = pattern === 'declared-states' && process === undefined
  if (!isAboutState || !problems.some(({ kind }) => NOT_APPLIED.has(kind))) return []
  return [
    '  the state is generated from the schema. If users cannot declare it, put the rule into the schema (such as CEL), or tell',
    '  the exploration: `accepts` leaves such states out, `complete` turns them into possible ones',
  ]
}

/** A problem that shows after several steps is one line. */
function problemLines(problems: Divergence['problems']): readonly string[] {
  const groups = Map.groupBy(problems, ({ kind, message }) => `${kind} ${alike(message)}`).values()
  return [...groups].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const more = others.length > 0 ? ` (and ${others.length} more like this)` : ''
    return [`  ${first.kind}: ${first.message}${more}`]
  })
}

/** A divergence in full. */
export function divergenceText(divergence: Divergence, operator: string, options: ReplayOptions = {}): string {
  const { pattern, point, label, problems, trace, differences, steps = [] } = divergence
  const shown = trace.slice(0, MAX_TRACE_LINES)
  return [
    `${operator} ${pattern} point ${point}: ${label}`,
    ...problemLines(problems),
    ...hints(divergence, options),
    ...differences.slice(0, MAX_DIFFERENCES).map((difference) => `  - ${formatDifference(difference)}`),
    ...(shown.length > 0 ? ['  what happened:', ...shown.map((entry) => `  ${formatEntry(entry)}`)] : []),
    ...(trace.length > shown.length ? [`  … ${trace.length - shown.length} more with --output json`] : []),
    ...(steps.length > 0 ? [`  needs the steps: ${steps.join(', ')}`] : []),
    `  replay: ${replayCommand(divergence, operator, options)}`,
  ].join('\n')
}
