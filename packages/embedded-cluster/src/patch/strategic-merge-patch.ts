/** Strategic merge patch: merges lists by the merge keys in the schema of a built-in kind. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { plainForm } from '../schema/go-format.ts'
import { canonicalJson, ownEntry, ownField, setField } from '../schema/json-value.ts'
import type { Schema } from '../schema/schema.ts'
import { StatusError } from '../status-error.ts'
import { newValue, readLevel, verbatimObject, verbatimValue } from './strategic-directives.ts'
import { arrangeList } from './strategic-order.ts'
import { jsonKind } from './undecodable.ts'

/**
 * Applies a strategic merge patch. Lists with patch strategy `merge` are merged by their merge key (or as sets of
 * scalars), other lists replace; `$patch`, `$retainKeys`, `$deleteFromPrimitiveList/…` and `$setElementOrder/…` are
 * supported at every level.
 *
 * *Guarantees*: inputs are not modified, and unchanged parts are shared with `document`.
 *
 * *Errors*: StatusError 400 when the patch or a directive is malformed, 500 (as in the API server) when a list cannot
 * be merged.
 */
export function applyStrategicMergePatch(
  schema: Schema | undefined,
  document: JsonObject,
  patch: JsonValue,
): JsonObject {
  if (!isJsonObject(patch)) {
    const message = `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`
    throw new StatusError(400, 'BadRequest', message)
  }
  return mergeObject(schema, document, patch)
}

/** The API server's error when merging fails: its own message, without a reason. */
function failure(message: string): StatusError {
  return new StatusError(500, '', message)
}

function mergeObject(schema: Schema | undefined, document: JsonObject, patch: JsonObject): JsonObject {
  const level = readLevel(patch)
  if (level.action === 'delete') return {}
  if (level.action === 'replace') return verbatimObject(patch)
  if (level.action !== undefined) throw unknownAction(level.action, patch)

  const { retainKeys, orders, deletions, fields } = level
  let merged: JsonObject | undefined
  const edit = (name: string, value: JsonValue | undefined): void => {
    if (value === ownField(merged ?? document, name)) return
    merged ??= { ...document }
    if (value === undefined) delete merged[name]
    else setField(merged, name, value)
  }
  if (retainKeys !== undefined) {
    for (const name in document) if (!retainKeys.has(name)) edit(name, undefined)
  }
  for (const [name, order] of orders) {
    const list = mergeOrdered(fieldSchema(schema, name), ownField(merged ?? document, name), fields.get(name), order)
    if (list !== undefined) edit(name, list)
  }
  for (const [name, change] of fields) {
    if (orders.has(name)) continue
    edit(name, mergeField(fieldSchema(schema, name), ownField(merged ?? document, name), change))
  }
  for (const [name, members] of deletions) {
    const list = ownField(merged ?? document, name)
    if (Array.isArray(list) && Array.isArray(members)) edit(name, withoutMembers(list, members))
  }
  return merged ?? document
}

function unknownAction(action: JsonValue, patch: JsonObject): StatusError {
  return failure(`unknown patch type: ${plainForm(action)} in map: ${plainForm(patch)}`)
}

function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema === undefined) return undefined
  const additional = schema.additionalProperties
  return ownEntry(schema.properties, name) ?? (typeof additional === 'object' ? additional : undefined)
}

function strategyOf(schema: Schema | undefined): { readonly merges: boolean; readonly replaces: boolean } {
  const strategies = schema?.['x-kubernetes-patch-strategy']?.split(',') ?? []
  return { merges: strategies.includes('merge'), replaces: strategies.includes('replace') }
}

function mergeField(schema: Schema | undefined, old: JsonValue | undefined, change: JsonValue): JsonValue | undefined {
  if (change === null) return undefined
  if (isJsonObject(change) && isJsonObject(old)) {
    return strategyOf(schema).replaces ? verbatimObject(change) : mergeObject(schema, old, change)
  }
  if (Array.isArray(change) && Array.isArray(old)) {
    const list = mergeList(schema, old, change)
    return list.length === old.length && list.every((item, index) => item === old[index]) ? old : list
  }
  return newValue(change)
}

function mergeList(schema: Schema | undefined, old: readonly JsonValue[], change: readonly JsonValue[]): JsonValue[] {
  if (!strategyOf(schema).merges) return change.map(verbatimValue)
  if (old.length === 0 && change.length === 0) return []
  const mergeKey = schema?.['x-kubernetes-patch-merge-key']
  const { oldMaps, changeMaps } = mapItems(old, change)
  if (oldMaps === undefined || changeMaps === undefined) {
    const merged = unique([...old, ...change])
    return arrangeList(merged, change, old, canonicalJson)
  }
  if (mergeKey === undefined) throw failure('cannot merge lists without merge key')
  return mergeItems(schema?.items, mergeKey, oldMaps, changeMaps)
}

/** The two lists as lists of objects, or nothing when both contain scalars. A list never contains both. */
function mapItems(
  old: readonly JsonValue[],
  change: readonly JsonValue[],
): { oldMaps: JsonObject[] | undefined; changeMaps: JsonObject[] | undefined } {
  const oldMaps = old.filter(isJsonObject)
  const changeMaps = change.filter(isJsonObject)
  const maps = oldMaps.length + changeMaps.length
  if (maps === 0 && ![...old, ...change].some((item) => item === null || Array.isArray(item))) {
    return { oldMaps: undefined, changeMaps: undefined }
  }
  if (maps < old.length + change.length) {
    throw failure(`list element types are not identical: [${plainForm([...old])} ${plainForm([...change])}]`)
  }
  return { oldMaps, changeMaps }
}

function mergeItems(
  items: Schema | undefined,
  mergeKey: string,
  old: readonly JsonObject[],
  change: readonly JsonObject[],
): JsonValue[] {
  const identity = (item: JsonValue): string => identityOf(item, mergeKey)
  let kept = [...old]
  let isReplaced = false
  const stated: JsonObject[] = []
  for (const item of change) {
    switch (item.$patch) {
      case undefined:
        stated.push(item)
        break
      case 'delete': {
        const gone = identity(item)
        kept = kept.filter((candidate) => identity(candidate) !== gone)
        break
      }
      case 'replace':
        isReplaced = true
        break
      case 'merge':
        throw failure('merging lists cannot yet be specified in the patch')
      default:
        throw unknownAction(item.$patch, item)
    }
  }
  if (isReplaced) return stated.map(verbatimValue)

  const merged: JsonObject[] = [...kept]
  const position = new Map<string, number>()
  // If a key occurs twice (one port, two protocols), the first item is merged.
  for (const [index, item] of kept.entries()) if (!position.has(identity(item))) position.set(identity(item), index)
  for (const item of stated) {
    const index = position.get(identity(item))
    const present = index === undefined ? undefined : merged[index]
    if (index === undefined || present === undefined) {
      position.set(identity(item), merged.length)
      merged.push(verbatimObject(item))
    } else {
      merged[index] = mergeObject(items, present, item)
    }
  }
  return arrangeList(merged, stated, kept, identity)
}

function identityOf(item: JsonValue, mergeKey: string): string {
  const value = isJsonObject(item) ? ownField(item, mergeKey) : undefined
  if (value === undefined) {
    throw failure(`map: ${plainForm(item)} does not contain declared merge key: ${mergeKey}`)
  }
  return canonicalJson(value)
}

/** Merges a list and then sorts it by the given order. `undefined` when there is no list at all. */
function mergeOrdered(
  schema: Schema | undefined,
  old: JsonValue | undefined,
  change: JsonValue | undefined,
  order: JsonValue,
): JsonValue[] | undefined {
  const [live, stated, wanted] = [old ?? [], change === undefined ? [] : change, order].map(asList)
  if (live === undefined || stated === undefined || wanted === undefined) return undefined
  const mergeKey = schema?.['x-kubernetes-patch-merge-key']
  const identity = (item: JsonValue): string =>
    mergeKey === undefined ? canonicalJson(item) : identityOf(item, mergeKey)
  checkOrder(stated, wanted, identity)
  if (old === undefined && change === undefined) return undefined
  if (live.length + stated.length === 0) throw failure('no elements in any of the given slices')
  const merged = change === undefined ? live : mergeList(schema, live, stated)
  return arrangeList(merged, wanted, live, identity)
}

/** The items in a patch must be in the order that it specifies. */
function checkOrder(
  stated: readonly JsonValue[],
  order: readonly JsonValue[],
  identity: (item: JsonValue) => string,
): void {
  const wanted = order.map(identity)
  let position = 0
  for (const item of stated) {
    if (isJsonObject(item) && item.$patch !== undefined) continue
    const found = wanted.indexOf(identity(item), position)
    if (found === -1) {
      throw failure(
        `The order in patch list:\n${plainForm([...stated])}\n doesn't match $setElementOrder list:\n${plainForm([...order])}\n`,
      )
    }
    position = found + 1
  }
}

function asList(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value
  const kind = value === null ? '%!s(<nil>)' : isJsonObject(value) ? 'map[string]interface {}' : jsonKind(value)
  throw failure(`expected a []interface {}, but received a ${kind}`)
}

function unique(items: readonly JsonValue[]): JsonValue[] {
  return [...new Map(items.map((item) => [canonicalJson(item), item])).values()]
}

function withoutMembers(list: readonly JsonValue[], members: readonly JsonValue[]): JsonValue[] {
  const gone = new Set(members.map(canonicalJson))
  return list.filter((item) => !gone.has(canonicalJson(item)))
}
