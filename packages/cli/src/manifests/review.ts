/** What there is to say about files of objects, and how it is printed: for people and editors, or for machines. */
import { styleText } from 'node:util'
import type { OutputOptions } from '../file-options.ts'
import { EXIT, type TextSink } from '../subcommand.ts'
import type { Position } from './manifest-file.ts'

/** Something to say about a place in a file. */
export interface Finding extends Position {
  readonly file: string
  /** Such as `DynaKube dynatrace/dynakube`; absent for what is no object. */
  readonly object?: string
  /** An error is a refusal; a note is about the check itself. */
  readonly severity: 'error' | 'warning' | 'note'
  /** What found it, where findings can be told apart by that: `yaml`, or the id of a rule. */
  readonly rule?: string
  /** Absent when it is about the whole object. */
  readonly field?: string
  readonly message: string
}

/** What there is to say about files. */
export interface Review {
  /** Objects that were looked at. */
  readonly checked: number
  /** Objects of other kinds. */
  readonly skipped: number
  /** In the order of the files. */
  readonly findings: readonly Finding[]
}

const COLOURS = { error: 'red', warning: 'yellow', note: 'gray' } as const

/**
 * Prints a review and answers with the exit code: failed when something would be refused.
 *
 * @example
 * return printReview(review, output, context.stdout)
 */
export function printReview(review: Review, output: OutputOptions['output'], stdout: TextSink): number {
  stdout.write(output === 'json' ? `${JSON.stringify(review, null, 2)}\n` : asText(review, stdout.hasColors))
  return review.findings.some(({ severity }) => severity === 'error') ? EXIT.failed : EXIT.done
}

/** One line per finding, in the form that editors and CI systems recognise, and a summary. */
function asText({ checked, skipped, findings }: Review, hasColors: boolean): string {
  const count = (severity: Finding['severity']) => findings.filter((finding) => finding.severity === severity).length
  const summary = [
    `${plural(checked, 'resource')} checked`,
    plural(count('error'), 'error'),
    plural(count('warning'), 'warning'),
    ...(skipped > 0 ? [`${plural(skipped, 'object')} of other kinds skipped`] : []),
  ]
  return [...findings.map((finding) => line(finding, hasColors)), summary.join(', '), ''].join('\n')
}

function line({ file, line, column, severity, object, rule, message }: Finding, hasColors: boolean): string {
  const label = hasColors ? styleText(COLOURS[severity], severity, { validateStream: false }) : severity
  const subject = object === undefined ? '' : `${object}: `
  const suffix = rule === undefined ? '' : ` [${rule}]`
  return `${file}:${line}:${column}: ${label}: ${subject}${message.trim()}${suffix}`
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
