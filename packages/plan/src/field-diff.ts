/** Which fields differ between two objects, in words that people recognise. */
import { isRecord, type JsonRecord, ownValue } from '@reeve/http'
import { isJsonEqual } from '@reeve/runtime/engine'

/** One field that differs. A member is absent where the field is. */
export interface FieldChange {
  /** Such as `spec.template.spec.containers[name=web].image`. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Members by which items of a list are distinguished, the first that all items have. */
const KEYS = ['name', 'mountPath', 'key', 'port', 'type', 'id', 'uid'] as const

/**
 * The differences, in the order of the fields. Items of lists are matched by what names them, so that one that was
 * added in front does not make all others differ.
 *
 * @example
 * fieldDiff({ spec: { replicas: 1 } }, { spec: { replicas: 2 } }) // [{ path: 'spec.replicas', before: 1, after: 2 }]
 */
export function fieldDiff(before: unknown, after: unknown, path = ''): readonly FieldChange[] {
  if (isJsonEqual(before, after)) return []
  if (isRecord(before) && isRecord(after)) return recordDiff(before, after, path)
  if (isRecord(before ?? {}) && isRecord(after ?? {}) && (before === undefined || after === undefined)) {
    const [less = {}, more = {}] = [before, after].map((value) => (isRecord(value) ? value : {}))
    // An empty map has no fields that could distinguish it from an absent one.
    if (Object.keys(less).length + Object.keys(more).length > 0) return recordDiff(less, more, path)
  }
  if (Array.isArray(before) && Array.isArray(after)) return listDiff(before, after, path)
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }]
}

function recordDiff(before: JsonRecord, after: JsonRecord, path: string): readonly FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => fieldDiff(ownValue(before, name), ownValue(after, name), fieldPath(path, name)))
}

function listDiff(before: readonly unknown[], after: readonly unknown[], path: string): readonly FieldChange[] {
  const key = keyOf(before, after)
  if (key !== undefined) {
    const [old, now] = [byKey(before, key), byKey(after, key)]
    const names = [...new Set([...old.keys(), ...now.keys()])]
    const changes = names.flatMap((name) => {
      const at = `${path}[${key}=${name}]`
      const [was, is] = [old.get(name), now.get(name)]
      if (was !== undefined && is !== undefined) return fieldDiff(was, is, at)
      return [{ path: at, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }]
    })
    // The same items in another order.
    return changes.length > 0 ? changes : [{ path, before, after }]
  }
  if ([...before, ...after].every((item) => typeof item !== 'object')) {
    const gone = before.filter((item) => !after.includes(item)).map((item) => ({ path: `${path}[]`, before: item }))
    const added = after.filter((item) => !before.includes(item)).map((item) => ({ path: `${path}[]`, after: item }))
    return gone.length + added.length > 0 ? [...gone, ...added] : [{ path, before, after }]
  }
  const length = Math.max(before.length, after.length)
  return Array.from({ length }, (_, index) => index).flatMap((index) =>
    fieldDiff(before[index], after[index], `${path}[${index}]`),
  )
}

/** The member that identifies the items of both lists. */
function keyOf(before: readonly unknown[], after: readonly unknown[]): string | undefined {
  return KEYS.find((key) =>
    [before, after].every((list) => {
      const values = list.map((item) => (isRecord(item) ? item[key] : undefined))
      const isNamed = values.every((value) => typeof value === 'string' || typeof value === 'number')
      return isNamed && new Set(values).size === list.length
    }),
  )
}

function byKey(list: readonly unknown[], key: string): ReadonlyMap<unknown, unknown> {
  return new Map(list.map((item) => [isRecord(item) ? item[key] : undefined, item]))
}

/**
 * The path of a member; names with dots stand in brackets.
 *
 * @example
 * fieldPath('metadata.labels', 'app.kubernetes.io/name') // 'metadata.labels[app.kubernetes.io/name]'
 */
export function fieldPath(path: string, name: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return `${path}[${name}]`
  return path === '' ? name : `${path}.${name}`
}
