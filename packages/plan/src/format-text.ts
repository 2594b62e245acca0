/** A plan for people. */

import { styleText } from 'node:util'
import { isRecord } from '@reeve/http'
import type { PlannedChange } from './compare-states.ts'
import type { FieldChange } from './field-diff.ts'
import type { Plan, PlanFinding } from './plan.ts'
import { titleOf } from './scratch-cluster.ts'
import { hasErrors, type PlanSummary, summaryOf } from './summary.ts'

/** Options of {@link formatText}. */
export interface FormatOptions {
  /** @default false */
  readonly isColoured?: boolean
  /** Whether objects that are created are shown as a whole. @default false */
  readonly isFull?: boolean
  /** Changes outside the cluster. @default none */
  readonly outside?: {
    /** Such as `in the tenant`. */
    readonly title: string
    readonly changes: readonly OutsideChange[]
  }
}

/** Something that would change outside the cluster. */
export interface OutsideChange {
  readonly action: 'create' | 'change' | 'replace' | 'remove'
  readonly what: string
  /** The server that it would change on. */
  readonly where: string
}

const SIGNS = { create: '+', change: '~', replace: '±', remove: '-' } as const
const COLOURS = { create: 'green', change: 'yellow', replace: 'yellow', remove: 'red' } as const
const SEVERITY_COLOURS = { error: 'red', warning: 'yellow', note: 'gray' } as const

/** Values beyond this are cut: a plan is read, not parsed. */
const MAX_VALUE = 100

type Paint = (colour: Parameters<typeof styleText>[0], text: string) => string

/**
 * The plan as text, with a line feed at its end.
 *
 * @example
 * process.stdout.write(formatText(plan, { isColoured: process.stdout.isTTY }))
 */
export function formatText(plan: Plan, options: FormatOptions = {}): string {
  const { isColoured = false, isFull = false, outside = { title: '', changes: [] } } = options
  const paint: Paint = (colour, text) => (isColoured ? styleText(colour, text, { validateStream: false }) : text)
  const lines = [
    ...plan.findings.map((finding) => findingLine(finding, paint)),
    ...(plan.findings.length > 0 ? [''] : []),
    ...changeLines(plan, paint, isFull),
    ...outsideLines(outside, paint),
    paint('bold', summaryLine(summaryOf(plan), outside, hasErrors(plan))),
  ]
  return `${lines.join('\n')}\n`
}

/** The form that editors and CI systems recognise. */
function findingLine({ severity, object, message, rule, file, line, column }: PlanFinding, paint: Paint): string {
  const where = file === undefined ? '' : `${file}:${line}:${column}: `
  const subject = object === undefined ? '' : `${object}: `
  return `${where}${paint(SEVERITY_COLOURS[severity], severity)}: ${subject}${message.trim()}${rule ? ` [${rule}]` : ''}`
}

function changeLines({ changes, resources }: Plan, paint: Paint, isFull: boolean): readonly string[] {
  const width = Math.max(0, ...changes.map(({ kind }) => kind.length))
  const groups = Map.groupBy(changes, ({ owner }) => owner ?? '')
  return [...groups].flatMap(([owner, ofOwner]) => {
    const resource = resources.find(
      ({ kind, namespace, name }) =>
        titleOf({ apiVersion: '', kind, metadata: { name, ...(namespace !== undefined && { namespace }) } }) === owner,
    )
    const versions = Object.entries(resource?.versions ?? {}).map(([name, version]) => `${name} ${version}`)
    const title = owner === '' ? 'other objects' : owner
    return [
      `${paint('bold', title)}${versions.length === 0 ? '' : paint('gray', ` (${versions.join(', ')})`)}`,
      ...[...Map.groupBy(ofOwner, ({ component }) => component)].flatMap(([component, same]) => [
        ...(component === undefined ? [] : [`  ${component}`]),
        ...same.flatMap((change) => objectLines(change, width, paint, isFull)),
      ]),
      '',
    ]
  })
}

function objectLines(change: PlannedChange, width: number, paint: Paint, isFull: boolean): readonly string[] {
  const { action, kind, namespace, name, fields, manifest } = change
  const called = `${namespace === undefined ? '' : `${namespace}/`}${name}`
  const head = `    ${paint(COLOURS[action], SIGNS[action])} ${kind.padEnd(width)}  ${called}`
  if (manifest !== undefined && isFull) return [head, ...manifestLines(manifest).map((line) => `        ${line}`)]
  return [head, ...fields.map((field) => `        ${fieldLine(field, paint)}`)]
}

function fieldLine({ path, before, after }: FieldChange, paint: Paint): string {
  if (before === undefined) return `${paint('green', '+')} ${path}: ${shown(after)}`
  if (after === undefined) return `${paint('red', '-')} ${path}: ${shown(before)}`
  const [from, to] = [shown(before), shown(after)]
  // A secret or a hash differs without its values being shown.
  return `${paint('yellow', '~')} ${path}: ${from === to ? `${from} differs` : `${from} → ${to}`}`
}

function shown(value: unknown): string {
  const text = typeof value === 'string' && /^\(.*\)$/.test(value) ? value : JSON.stringify(value)
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`
}

/** YAML as far as people need it: one line per value. */
function manifestLines(value: Readonly<Record<string, unknown>>, indent = ''): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (isRecord(member) && Object.keys(member).length > 0) {
      return [`${indent}${name}:`, ...manifestLines(member, `${indent}  `)]
    }
    if (Array.isArray(member) && member.length > 0) {
      return [`${indent}${name}:`, ...member.flatMap((item) => itemLines(item, indent))]
    }
    return [`${indent}${name}: ${scalar(member)}`]
  })
}

function itemLines(item: unknown, indent: string): readonly string[] {
  if (!isRecord(item)) return [`${indent}- ${scalar(item)}`]
  const [first = '', ...rest] = manifestLines(item, `${indent}  `)
  return [`${indent}- ${first.trimStart()}`, ...rest]
}

const scalar = (value: unknown): string =>
  typeof value === 'string' && /^\(.*\)$/.test(value) ? value : JSON.stringify(value)

function outsideLines({ title, changes }: NonNullable<FormatOptions['outside']>, paint: Paint): readonly string[] {
  if (changes.length === 0) return []
  const lines = changes.map(
    ({ action, what, where }) => `    ${paint(COLOURS[action], SIGNS[action])} ${what}  (${where})`,
  )
  return [paint('bold', title), ...lines, '']
}

/** As in `Plan: 14 to create, 2 to change, 1 to remove.` */
function summaryLine(
  { unchanged, create, change, replace, remove }: PlanSummary,
  outside: NonNullable<FormatOptions['outside']>,
  isIncomplete: boolean,
): string {
  const stays = unchanged === 1 ? ' 1 is unchanged.' : ` ${unchanged} are unchanged.`
  const rest = unchanged === 0 ? '' : stays
  const elsewhere = outside.changes.length
  if (create + change + replace + remove + elsewhere === 0) {
    return isIncomplete ? 'No plan: there are errors.' : `No changes.${rest}`
  }
  const parts = [
    `${create} to create`,
    `${change} to change`,
    ...(replace > 0 ? [`${replace} to replace`] : []),
    `${remove} to remove`,
    ...(elsewhere > 0 ? [`${elsewhere} ${outside.title}`] : []),
  ]
  return `${isIncomplete ? 'Incomplete plan' : 'Plan'}: ${parts.join(', ')}.${rest}`
}
