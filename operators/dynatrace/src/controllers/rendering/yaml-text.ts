/** Writes YAML in one fixed layout: pods restart when the hash of a text changes, so it must be deterministic. */
import { stringify } from 'yaml'

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value }

/** A document as a tree. */
export interface YamlTree {
  readonly [key: string]: Value
}

/** What differs between documents. */
export interface YamlLayout {
  /** @default 'sorted' */
  readonly keys?: 'sorted' | 'as given'
  /** Whether texts get quotes where YAML needs them; documents that never need them are written without. @default true */
  readonly quotes?: boolean
}

const INDENT = 4

/**
 * The tree as YAML, four columns per level.
 *
 * @example
 * yamlText({ service: { extensions: ['health_check'] } })
 */
export function yamlText(tree: YamlTree, layout: YamlLayout = {}): string {
  return `${mapping(tree, 0, { keys: 'sorted', quotes: true, ...layout })}\n`
}

type Layout = Required<YamlLayout>

function mapping(tree: YamlTree, column: number, layout: Layout): string {
  const keys = layout.keys === 'sorted' ? Object.keys(tree).sort() : Object.keys(tree)
  return keys.map((key) => `${key}:${below(tree[key] ?? '', column, layout)}`).join(`\n${' '.repeat(column)}`)
}

/** What stands after the colon of a key, or in the lines below it: at the next full level. */
function below(value: Value, column: number, layout: Layout): string {
  const inner = (Math.floor(column / INDENT) + 1) * INDENT
  const pad = ' '.repeat(inner)
  if (!isTree(value)) return ` ${scalar(value, pad, layout)}`
  if (Object.keys(value).length === 0) return isList(value) ? ' []' : ' {}'
  if (!isList(value)) return `\n${pad}${mapping(value, inner, layout)}`
  return value.map((item) => `\n${pad}- ${listItem(item, inner + 2, layout)}`).join('')
}

function listItem(item: Value, column: number, layout: Layout): string {
  return isTree(item) && !isList(item) ? mapping(item, column, layout) : scalar(item, ' '.repeat(column), layout)
}

function isTree(value: Value): value is readonly Value[] | YamlTree {
  return typeof value === 'object'
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

/** Of a text with several lines, those after the first stand behind `pad`. */
function scalar(value: Value, pad: string, { quotes }: Layout): string {
  if (typeof value !== 'string' || !quotes) return String(value)
  if (value === '') return '""'
  if (/[\r\n]/.test(value)) return lines(value, pad)
  return stringify(value, { singleQuote: true, lineWidth: 0 }).trimEnd()
}

/** Credentials often end in a line break. Plain text follows as a block, anything else in quotes. */
function lines(value: string, pad: string): string {
  const [, text = '', end = ''] = /^(.*?)(\n?)$/s.exec(value) ?? []
  const isPlain = text.split('\n').every((line) => /^[!-~]([ -~]*[!-~])?$/.test(line))
  if (!isPlain) return JSON.stringify(value)
  return `|${end === '' ? '-' : ''}\n${pad}${text.replaceAll('\n', `\n${pad}`)}`
}
