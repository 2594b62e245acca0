/** The report as text for people, line by line, or as one JSON document. */
import type { TextSink } from '@reeve/cli'
import type { Finding, FindingStatus, ReportFinding } from './finding.ts'

const PREFIXES: Readonly<Record<FindingStatus, string>> = {
  start: '--- ',
  info: '    ',
  ok: ' ✓  ',
  warning: ' ⚠  ',
  error: ' X  ',
}

const COLOURS: Partial<Record<FindingStatus, number>> = { ok: 32, warning: 33, error: 31 }
const NAME_WIDTH = 10

/** A line of the report, or two: what to do follows below. Coloured on a terminal. */
export function formatFinding({ check, status, message, remedy }: Finding, hasColors: boolean): string {
  const colour = hasColors ? COLOURS[status] : undefined
  const text = `${PREFIXES[status]}${message}`
  const painted = colour === undefined ? text : `\u001b[${colour}m${text}\u001b[0m`
  const name = `[${check.padEnd(NAME_WIDTH)}] \t`
  return `${name}${painted}\n${remedy === undefined ? '' : `${name}      to do: ${remedy}\n`}`
}

/** Writes each finding as soon as it is known. */
export function textReport(sink: TextSink, redact: (text: string) => string): ReportFinding {
  return (finding) => sink.write(formatFinding(redacted(finding, redact), sink.hasColors))
}

/** Keeps the findings; `print` writes them as one document. */
export function jsonReport(redact: (text: string) => string) {
  const findings: Finding[] = []
  return {
    report: (finding: Finding) => {
      if (finding.status !== 'start') findings.push(redacted(finding, redact))
    },
    print: (
      sink: TextSink,
      facts: { readonly version: string; readonly namespace: string; readonly passed: boolean },
    ) => sink.write(`${JSON.stringify({ ...facts, findings }, undefined, 2)}\n`),
  }
}

/** Messages of servers may repeat what they were sent. */
function redacted({ message, ...finding }: Finding, redact: (text: string) => string): Finding {
  return { ...finding, message: redact(message) }
}
