/** One line of the report: what was checked, how it turned out, and what to do about it. */

/** The parts of the report, in their order. */
export type CheckName =
  | ''
  | 'oneAgentAPM'
  | 'namespace'
  | 'crd'
  | 'clock'
  | 'operator'
  | 'webhook'
  | 'csi'
  | 'namespaces'
  | 'pods'
  | 'dynakube'
  | 'dynakube.imagepull'
  | 'dynakube.proxy'
  | 'pod'

/** `start` announces a check; only `error` makes the report fail. */
export type FindingStatus = 'start' | 'info' | 'ok' | 'warning' | 'error'

/** Node's own advice about certificates, which does not fit a process in a pod. */
const NODE_HINT = /; if the root CA is installed locally, try running Node\.js with --use-system-ca/

/** One line. */
export interface Finding {
  readonly check: CheckName
  readonly status: FindingStatus
  readonly message: string
  /** What to do, for warnings and errors. */
  readonly remedy?: string
}

/** Takes the lines of a report as they are found. */
export type ReportFinding = (finding: Finding) => void

/** Reports the findings of one check. */
export class CheckReporter {
  readonly #check: CheckName
  readonly #report: ReportFinding
  #errors = 0

  constructor(check: CheckName, report: ReportFinding) {
    this.#check = check
    this.#report = report
  }

  /** Errors of this check so far. */
  get errors(): number {
    return this.#errors
  }

  start(message: string): void {
    this.#report({ check: this.#check, status: 'start', message })
  }

  info(message: string): void {
    this.#report({ check: this.#check, status: 'info', message })
  }

  ok(message: string): void {
    this.#report({ check: this.#check, status: 'ok', message })
  }

  warning(message: string, remedy: string): void {
    this.#report({ check: this.#check, status: 'warning', message, remedy })
  }

  error(message: string, remedy: string): void {
    this.#errors += 1
    this.#report({ check: this.#check, status: 'error', message: message.replace(NODE_HINT, ''), remedy })
  }

  /** Reports a failure. Messages of this program end with what to do; `remedy` is for those of others. */
  failed(what: string, error: unknown, remedy: string): void {
    const text = (error instanceof Error ? error.message : String(error)).replace(NODE_HINT, '')
    const end = text.lastIndexOf('; ')
    if (end < 0) this.error(`${what}: ${text}`, remedy)
    else this.error(`${what}: ${text.slice(0, end)}`, text.slice(end + 2))
  }
}
