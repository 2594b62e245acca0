/** The JSON patch that turns one value into another. */
import { isRecord } from '@reeve/http'
import type { JsonPatchOperation } from '@reeve/kube'
import { isJsonEqual } from './json-equal.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * Operations of RFC 6902 that turn `before` into `after`. Both are read as JSON: what `JSON.stringify` omits is
 * absent. Lists are compared from both ends, so that one element added or removed anywhere is one operation.
 *
 * *Guarantee*: applying the operations to `before` in order yields `after`; equal values yield none.
 *
 * @example
 * jsonDiff({ labels: { a: '1' } }, { labels: { a: '2', b: '3' } })
 * // [{ op: 'replace', path: '/labels/a', value: '2' }, { op: 'add', path: '/labels/b', value: '3' }]
 */
export function jsonDiff(before: unknown, after: unknown): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  compare(toJson(before), toJson(after), '', operations)
  return operations
}

/**
 * As {@link jsonDiff}, for values that are JSON already, such as a parsed request and a changed copy of it. Parts that
 * both share are not compared at all, so that the cost is that of the changes.
 *
 * @example
 * const after = { ...before, metadata: { ...before.metadata, labels } }
 * plainJsonDiff(before, after) // does not look into spec
 */
export function plainJsonDiff(before: object, after: object): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  // The caller guarantees it.
  compare(before as Json, after as Json, '', operations)
  return operations
}

function compare(before: Json, after: Json, path: string, operations: JsonPatchOperation[]): void {
  if (before === after) return
  if (isList(before) && isList(after)) compareLists(before, after, path, operations)
  else if (isRecord(before) && isRecord(after)) compareObjects(before, after, path, operations)
  else operations.push({ op: 'replace', path, value: after })
}

function compareObjects(
  before: { readonly [key: string]: Json },
  after: { readonly [key: string]: Json },
  path: string,
  operations: JsonPatchOperation[],
): void {
  for (const [key, value] of Object.entries(before)) {
    const next = Object.hasOwn(after, key) ? after[key] : undefined
    if (next === undefined) operations.push({ op: 'remove', path: `${path}/${segment(key)}` })
    else compare(value, next, `${path}/${segment(key)}`, operations)
  }
  for (const [key, value] of Object.entries(after)) {
    const isNew = value !== undefined && !Object.hasOwn(before, key)
    if (isNew) operations.push({ op: 'add', path: `${path}/${segment(key)}`, value })
  }
}

function compareLists(
  before: readonly Json[],
  after: readonly Json[],
  path: string,
  operations: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && isJsonEqual(before[start], after[start])) start++
  let end = 0
  while (end < shorter - start && isJsonEqual(before.at(-1 - end), after.at(-1 - end))) end++
  const removed = before.slice(start, before.length - end)
  const added = after.slice(start, after.length - end)
  for (const [offset, value] of removed.entries()) {
    const next = added[offset]
    if (next !== undefined) compare(value, next, `${path}/${start + offset}`, operations)
  }
  // From the back, so that each index is still right when its operation runs.
  for (let offset = removed.length - 1; offset >= added.length; offset--) {
    operations.push({ op: 'remove', path: `${path}/${start + offset}` })
  }
  for (let offset = removed.length; offset < added.length; offset++) {
    operations.push({ op: 'add', path: `${path}/${start + offset}`, value: added[offset] })
  }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** A key as it stands in a JSON pointer. */
function segment(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json // JSON.parse returns only JSON
}
