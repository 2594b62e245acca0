/** What a report in HTML shows of explorations. */
import type { EndState, ReportData, ReportedDivergence } from '@reeve/console/report'
import type { Divergence, ExplorationReport } from '../explore.ts'
import { patternNumber } from '../patterns/pattern-names.ts'
import { coverageText, type ReplayOptions, replayCommand, summaryLine } from './report-text.ts'

/** A report, and what its replay commands need. */
export interface ReportedRun {
  readonly report: Omit<ExplorationReport, 'divergences'> & { readonly divergences: readonly ReportableDivergence[] }
  readonly replay: ReplayOptions
  /** What was seen once and not again. @default nothing */
  readonly unconfirmed?: ReportData['explorations'][number]['unconfirmed']
}

/** A divergence, with the steps that are needed to see it where they are known. */
type ReportableDivergence = Divergence & { readonly steps?: readonly string[] }

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
    explorations: runs.map(({ report, replay, unconfirmed }) => ({
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
      ...(unconfirmed && { unconfirmed }),
    })),
  }
}

function shown(divergence: ReportableDivergence, operator: string, replay: ReplayOptions): ReportedDivergence {
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
