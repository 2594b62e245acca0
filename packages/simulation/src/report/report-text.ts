/** Reports as text: an aligned table, and for each divergence what a person needs to see and to replay it. */

import { formatDifference } from '../compare/difference.ts'
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import type { Divergence, ExplorationReport } from '../explore.ts'
import { formatEntry } from '../world/trace.ts'

/** Lines of trace and fields of difference that are printed; the JSON output has all that was kept. */
const MAX_TRACE_LINES = 40
const MAX_DIFFERENCES = 10

/**
 * The table of one or more reports.
 *
 * @example
 * console.log(reportTable([await explore(operator, scenario)]))
 */
export function reportTable(reports: readonly ExplorationReport[]): string {
  const head = ['OPERATOR', 'PATTERN', '', 'COVERAGE', 'POINTS', 'RUNS', 'MISSED', 'DIVERGENCES', 'TIME']
  const rows = reports.flatMap(({ operator, patterns }) =>
    patterns.map(({ pattern, title, coverage, points, explored, missed, divergences, durationMs }) => [
      operator,
      pattern,
      title,
      points === 0 ? 'not applicable' : coverage,
      ...[points, explored, missed, divergences].map(String),
      `${(durationMs / 1_000).toFixed(1)} s`,
    ]),
  )
  const table = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  const isNumber = (column: number) => column >= 4
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return table.map(line).join('\n')
}

/** What the command that replays a point needs besides the point. */
export interface ReplayOptions {
  /** As the exploration had it: it decides which points a sampled pattern has. @default 24 */
  readonly budget?: number
  /** The module of an operator that is not found by itself. */
  readonly module?: string
}

/** The command that runs one point again. */
export function replayCommand(
  { pattern, point, seed }: Divergence,
  operator: string,
  { budget = EXPLORATION_DEFAULTS.budget, module }: ReplayOptions = {},
): string {
  const which = module === undefined ? `--operator ${operator}` : `--module ${module}`
  const sampled = budget === EXPLORATION_DEFAULTS.budget ? '' : ` --budget ${budget}`
  return `npm run explore -- ${which} --pattern ${pattern} --point ${point} --seed ${seed}${sampled}`
}

/** A divergence in full. */
export function divergenceText(divergence: Divergence, operator: string, options: ReplayOptions = {}): string {
  const { pattern, point, label, message, trace, differences } = divergence
  const shown = trace.slice(0, MAX_TRACE_LINES)
  return [
    `${operator} ${pattern} point ${point}: ${label}`,
    `  ${message}`,
    ...differences.slice(0, MAX_DIFFERENCES).map((difference) => `  - ${formatDifference(difference)}`),
    ...(shown.length > 0 ? ['  what happened:', ...shown.map((entry) => `  ${formatEntry(entry)}`)] : []),
    ...(trace.length > shown.length ? [`  … ${trace.length - shown.length} more with --output json`] : []),
    `  replay: ${replayCommand(divergence, operator, options)}`,
  ].join('\n')
}
