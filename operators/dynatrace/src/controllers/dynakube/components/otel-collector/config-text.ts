/** Writes the configuration of collectors in one fixed layout: pods restart when the text changes. */

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value }

/** A configuration as a tree. */
export interface ConfigTree {
  readonly [key: string]: Value
}

const INDENT = 4

/**
 * The tree as YAML: sorted keys, and texts without quotes, which nothing in these configurations needs.
 *
 * @example
 * configText({ service: { extensions: ['health_check'] } })
 */
export function configText(tree: ConfigTree): string {
  return `${mapping(tree, 0)}\n`
}

function mapping(tree: ConfigTree, column: number): string {
  return Object.keys(tree)
    .sort()
    .map((key) => `${key}:${below(tree[key] ?? '', column)}`)
    .join(`\n${' '.repeat(column)}`)
}

/** What stands after the colon of a key, or in the lines below it. */
function below(value: Value, column: number): string {
  if (!isTree(value)) return ` ${scalar(value)}`
  if (Object.keys(value).length === 0) return Array.isArray(value) ? ' []' : ' {}'
  const inner = (Math.floor(column / INDENT) + 1) * INDENT
  const pad = ' '.repeat(inner)
  if (!isList(value)) return `\n${pad}${mapping(value, inner)}`
  return value
    .map((item) => `\n${pad}- ${isTree(item) && !isList(item) ? mapping(item, inner + 2) : scalar(item)}`)
    .join('')
}

function isTree(value: Value): value is readonly Value[] | ConfigTree {
  return typeof value === 'object'
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

function scalar(value: Value): string {
  return String(value)
}
