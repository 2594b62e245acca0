/** Findings about files of objects, and their output: for people and editors, or for machines. */
import { styleText } from 'node:util'
import type { OutputOptions } from '../file-options.ts'
import { EXIT, type TextSink } from '../subcommand.ts'
import type { Position } from './manifest-file.ts'

/** A finding at a position in a file. */
export interface Finding extends Position {
  readonly file: string
  /** Such as `DynaKube dynatrace/dynakube`; absent for documents that are not objects. */
  readonly object?: string
  /** An error means that the object would be rejected; a note is about the check itself. */
  readonly severity: 'error' | 'warning' | 'note'
  /** The source of the finding: `yaml`, or the id of a rule. */
  readonly rule?: string
  /** Absent when it applies to the whole object. */
  readonly field?: string
  readonly message: string
}

/** The result for all files. */
export interface Review {
  /** Number of checked objects. */
  readonly checked: number
  /** Objects of other kinds. */
  readonly skipped: number
  /** In the order of the files. */
  readonly findings: readonly Finding[]
}

const COLOURS = { error: 'red', warning: 'yellow', note: 'gray' } as const

/**
 * Prints a review and returns the exit code: failed if anything would be rejected.
 *
 * @example
 * return printReview(review, output, context.stdout)
 */
export function printReview(review: Review, output: OutputOptions['output'], stdout: TextSink): number {
  stdout.write(output === 'json' ? `${JSON.stringify(review, null, 2)}\n` : asText(review, stdout.hasColors))
  return review.findings.some(({ severity }) => severity === 'error') ? EXIT.failed : EXIT.done
}

/** One line per finding, in the format that editors and CI systems recognize, and a summary. */
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
