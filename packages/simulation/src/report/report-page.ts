/** What a report in HTML shows of explorations. */
import type { EndState, ReportData, ReportedDivergence } from '@reeve/console/report'
import { patternNumber } from '../patterns/pattern-names.ts'
import type { Divergence, ExplorationReport } from './exploration-report.ts'
import { coverageText, type ReplayOptions, replayCommand, summaryLine } from './report-text.ts'

/** A report, and what its replay commands need. */
export interface ReportedRun {
  readonly report: ExplorationReport
  readonly replay: ReplayOptions
}

/**
 * The content of a report.
 *
 * @example
 * await writeFile('report.html', await reportPage(reportData([{ report, replay: {} }], { generatedMs, durationMs })))
 */
export function reportData(
  runs: readonly ReportedRun[],
  times: { readonly generatedMs: number; readonly durationMs: number },
): ReportData {
  const reports = runs.map(({ report }) => report)
  return {
    ...times,
    summary: summaryLine(reports, times.durationMs),
    explorations: runs.map(({ report, replay }) => ({
      operator: report.operator,
      scenario: report.scenario,
      ...(replay.process === undefined && { seed: report.seed }),
      runs: report.runs,
      patterns: report.patterns.map((one) => ({
        ...one,
        number: patternNumber(one.pattern),
        coverage: coverageText(one),
      })),
      divergences: report.divergences.map((divergence) => shown(divergence, report.operator, replay)),
      ...(report.unconfirmed && { unconfirmed: report.unconfirmed }),
    })),
  }
}

function shown(divergence: Divergence, operator: string, replay: ReplayOptions): ReportedDivergence {
  const { pattern, point, label, problems, trace, differences, endStates = [], steps } = divergence
  return {
    pattern,
    point,
    label,
    problems: problems.map(({ kind, message }) => ({ kind, message })),
    trace,
    differences,
    endStates: endStates.map(
      ({ object, undisturbed, disturbed }): EndState => ({
        object,
        ...(undisturbed && { undisturbed: JSON.stringify(undisturbed, undefined, 2) }),
        ...(disturbed && { disturbed: JSON.stringify(disturbed, undefined, 2) }),
      }),
    ),
    replay: replayCommand(divergence, operator, replay),
    ...(steps && { steps }),
  }
}
