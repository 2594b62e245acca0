/** Reads the JSON report of Ginkgo, the framework of the specs. */

/** The result of one spec. */
export interface SpecResult {
  readonly outcome: 'passed' | 'failed'
  readonly seconds: number
  /** Why it failed. */
  readonly message?: string
}

/** The parts of a report that are read. */
interface Report {
  readonly SpecReports: readonly SpecEntry[] | null
}

interface SpecEntry {
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly State: string
  /** In nanoseconds. */
  readonly RunTime: number
  readonly Failure?: {
    readonly Message?: string
    readonly Location?: { readonly FileName?: string; readonly LineNumber?: number }
  }
}

/** The results of the specs in `names` that ran. A failure of the set-up counts for all of them. */
export function readReport(report: readonly Report[], names: ReadonlySet<string>): Map<string, SpecResult> {
  const results = new Map<string, SpecResult>()
  for (const entry of report.flatMap(({ SpecReports }) => SpecReports ?? [])) {
    const name = [...(entry.ContainerHierarchyTexts ?? []), entry.LeafNodeText].join(' ')
    const isSetUp = (entry.ContainerHierarchyTexts ?? []).length === 0
    if (isSetUp && isFailure(entry.State)) {
      for (const spec of names)
        if (!results.has(spec)) results.set(spec, failed(entry, 'the set-up of the suite failed: '))
    }
    if (!names.has(name) || !hasRun(entry)) continue
    results.set(name, entry.State === 'passed' ? { outcome: 'passed', seconds: seconds(entry) } : failed(entry))
  }
  return results
}

function failed(entry: SpecEntry, prefix = ''): SpecResult {
  const { Message = '', Location } = entry.Failure ?? {}
  const at = Location?.FileName === undefined ? '' : `\nat ${Location.FileName}:${Location.LineNumber}`
  const state = entry.State === 'failed' ? '' : `${entry.State}: `
  return { outcome: 'failed', seconds: seconds(entry), message: `${prefix}${state}${Message}${at}` }
}

/** Specs outside the focus, and those after an interruption, are reported as skipped without a message. */
function hasRun({ State, Failure }: SpecEntry): boolean {
  return State !== 'pending' && (State !== 'skipped' || (Failure?.Message ?? '') !== '')
}

function isFailure(state: string): boolean {
  return ['failed', 'panicked', 'timedout', 'aborted'].includes(state)
}

function seconds({ RunTime }: SpecEntry): number {
  return RunTime / 1e9
}
