/** Merges a configuration into a live object, and removes fields from one. */
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '../json.ts'
import { isEmptyContainer, ownField, setField } from '../schema/json-value.ts'
import type { FieldSet } from './field-set.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import { fieldTypeOrDeduced, isAtomic, itemElements, kindOf, type TypeRef } from './typed-schema.ts'

/**
 * Every field in `applied` gets its value, everything else stays as in `live`.
 *
 * *Guarantees*: inputs are not modified, and unchanged parts are the same objects as in `live`, so that a comparison
 * with `live` only visits changed parts.
 */
export function mergeApplied(type: TypeRef, live: JsonValue | undefined, applied: JsonValue | undefined): JsonValue {
  if (applied === undefined) return live ?? null
  if (live === undefined || live === applied) return applied
  const kind = kindOf(type, applied ?? live)
  const isLeaf =
    kindOf(type, live ?? applied) !== kind ||
    isAtomic(type, kind) ||
    (isEmptyContainer(live) && isEmptyContainer(applied))
  if (isLeaf) return jsonEqual(live, applied) ? live : applied
  if (kind === 'list') return mergeLists(type, live ?? [], applied ?? [])
  return mergeMaps(type, live ?? {}, applied ?? {})
}

function mergeMaps(type: TypeRef, live: JsonValue, applied: JsonValue): JsonValue {
  if (!isJsonObject(live) || !isJsonObject(applied)) return applied
  let merged: JsonObject | undefined
  for (const name in applied) {
    const value = applied[name]
    if (value === undefined) continue
    const old = ownField(live, name)
    const next = mergeApplied(fieldTypeOrDeduced(type, name), old, value)
    if (next === old) continue
    merged ??= { ...live }
    setField(merged, name, next)
  }
  return merged ?? live
}

function mergeLists(type: TypeRef, live: JsonValue, applied: JsonValue): JsonValue {
  if (type === undefined || !Array.isArray(live) || !Array.isArray(applied)) return applied
  const liveElements = itemElements(type, live)
  const appliedElements = itemElements(type, applied)
  if (liveElements === undefined || appliedElements === undefined) return applied

  const liveItems = uniqueItems(liveElements, live)
  const inLive = new Set(liveElements)
  const stated = new Set(appliedElements)
  const shared = appliedElements.filter((element) => inLive.has(element))
  const merged: JsonValue[] = []
  let next = 0
  let nextShared = 0
  const takeApplied = (): void => {
    const element = appliedElements[next]
    const item = applied[next]
    next++
    if (element === shared[nextShared]) nextShared++
    if (element !== undefined && item !== undefined) {
      merged.push(mergeApplied(type.items, liveItems.get(element), item))
    }
  }

  // Applied items are in the applied order; items that only the live list has stay before the shared item that followed
  // them.
  for (const [index, element] of liveElements.entries()) {
    const item = live[index]
    if (item === undefined) continue
    if (!stated.has(element)) {
      merged.push(item)
    } else if (shared[nextShared] === element) {
      while (appliedElements[next] !== element) takeApplied()
      takeApplied()
    }
  }
  while (next < applied.length) takeApplied()
  const isSame = merged.length === live.length && merged.every((item, index) => item === live[index])
  return isSame ? live : merged
}

/** Items by key; a key that occurs twice maps to nothing, because the item to merge with is ambiguous. */
function uniqueItems(elements: readonly PathElement[], items: readonly JsonValue[]): Map<PathElement, JsonValue> {
  const found = new Map<PathElement, JsonValue>()
  const seen = new Set<PathElement>()
  for (const [index, element] of elements.entries()) {
    const item = items[index]
    if (seen.has(element)) found.delete(element)
    else if (item !== undefined) found.set(element, item)
    seen.add(element)
  }
  return found
}

/**
 * `value` without the fields and list items of `set`; atomic parts are only removed as a whole. A map or list that
 * becomes empty is set to null, as in the API server: it is owned but has no value anymore.
 */
export function removeFields(type: TypeRef, value: JsonValue, set: FieldSet): JsonValue {
  if (set.children.size === 0) return value
  const kind = kindOf(type, value)
  if (isAtomic(type, kind)) return value
  if (kind === 'map' && isJsonObject(value)) return removeFromMap(type, value, set)
  if (type !== undefined && Array.isArray(value)) return removeFromList(type, value, set)
  return value
}

function removeFromMap(type: TypeRef, map: JsonObject, set: FieldSet): JsonValue {
  let kept: JsonObject | undefined
  for (const name in map) {
    const below = set.children.get(fieldElement(name))
    const field = map[name]
    if (below === undefined || field === undefined) continue
    const rest = below.member ? undefined : removeFields(fieldTypeOrDeduced(type, name), field, below)
    if (rest === field) continue
    kept ??= { ...map }
    if (rest === undefined) delete kept[name]
    else setField(kept, name, rest)
  }
  const remaining = kept ?? map
  return isEmptyContainer(remaining) ? null : remaining
}

function removeFromList(type: NonNullable<TypeRef>, list: JsonValue[], set: FieldSet): JsonValue {
  const elements = itemElements(type, list)
  if (elements === undefined) return list
  let isSame = true
  const kept: JsonValue[] = []
  for (const [index, item] of list.entries()) {
    const element = elements[index]
    const below = element === undefined ? undefined : set.children.get(element)
    if (below === undefined) {
      kept.push(item)
      continue
    }
    const rest = below.member ? undefined : removeFields(type.items, item, below)
    if (rest !== item) isSame = false
    if (rest !== undefined) kept.push(rest)
  }
  if (kept.length === 0) return null
  return isSame ? list : kept
}
