/** Which fields differ between two states of an object. */
import { isJsonObject, type JsonValue, jsonEqual } from '../json.ts'
import { isEmptyContainer, ownField } from '../schema/json-value.ts'
import { emptyFieldSet, type FieldSet, fieldSetNode, isEmptyFieldSet, leafFieldSet, unionOf } from './field-set.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import { fieldTypeOrDeduced, isAtomic, itemElements, kindOf, type TypeRef } from './typed-schema.ts'

/** The result of a comparison. */
export interface Difference {
  /** Fields that are new or have another value, including new structs and lists around them. */
  readonly changed: FieldSet
  /** Fields that were removed, including everything below them. */
  readonly removed: FieldSet
}

const none: Difference = Object.freeze({ changed: emptyFieldSet, removed: emptyFieldSet })
const leafChanged: Difference = Object.freeze({ changed: leafFieldSet, removed: emptyFieldSet })

/** Compares two states by their type. Parts that are the same object in memory are skipped. */
export function compareValues(type: TypeRef, before: JsonValue, after: JsonValue): Difference {
  if (before === after) return none
  const kindBefore = kindOf(type, before ?? after)
  const kindAfter = kindOf(type, after ?? before)
  if (kindBefore !== kindAfter) {
    return {
      changed: fieldSetNode(true, everyPath(type, after).children),
      removed: fieldSetNode(false, everyPath(type, before).children),
    }
  }
  // Two empty values are a leaf too, so that a change from null to {} is detected.
  if (isAtomic(type, kindAfter) || (isEmptyContainer(before) && isEmptyContainer(after))) {
    return jsonEqual(before, after) ? none : leafChanged
  }
  if (kindAfter === 'list') return compareLists(type, before ?? [], after ?? [])
  return compareMaps(type, before ?? {}, after ?? {})
}

function compareMaps(type: TypeRef, before: JsonValue, after: JsonValue): Difference {
  if (!isJsonObject(before) || !isJsonObject(after)) return jsonEqual(before, after) ? none : leafChanged
  const collected = new Collector()
  for (const name in after) {
    const value = after[name]
    if (value === undefined) continue
    const old = ownField(before, name)
    if (value === old) continue
    collected.add(fieldElement(name), fieldTypeOrDeduced(type, name), old, value)
  }
  for (const name in before) {
    if (before[name] === undefined || ownField(after, name) !== undefined) continue
    collected.add(fieldElement(name), fieldTypeOrDeduced(type, name), before[name], undefined)
  }
  return collected.difference()
}

function compareLists(type: TypeRef, before: JsonValue, after: JsonValue): Difference {
  const itemsBefore = type !== undefined && Array.isArray(before) ? itemsByElement(type, before) : undefined
  const itemsAfter = type !== undefined && Array.isArray(after) ? itemsByElement(type, after) : undefined
  if (itemsBefore === undefined || itemsAfter === undefined) return jsonEqual(before, after) ? none : leafChanged
  const collected = new Collector()
  for (const [element, items] of itemsAfter) {
    collected.addItems(element, type?.items, itemsBefore.get(element) ?? [], items)
  }
  for (const [element, items] of itemsBefore) {
    if (!itemsAfter.has(element)) collected.addItems(element, type?.items, items, [])
  }
  return collected.difference()
}

function itemsByElement(
  type: NonNullable<TypeRef>,
  items: readonly JsonValue[],
): Map<PathElement, JsonValue[]> | undefined {
  const elements = itemElements(type, items)
  if (elements === undefined) return undefined
  const found = new Map<PathElement, JsonValue[]>()
  for (const [index, element] of elements.entries()) {
    const item = items[index] ?? null
    const same = found.get(element)
    if (same === undefined) found.set(element, [item])
    else same.push(item)
  }
  return found
}

/** Collects the differences of the parts of one map or list. */
class Collector {
  #changed: Map<PathElement, FieldSet> | undefined
  #removed: Map<PathElement, FieldSet> | undefined

  add(element: PathElement, type: TypeRef, before: JsonValue | undefined, after: JsonValue | undefined): void {
    if (before === undefined) {
      if (after !== undefined) this.#addChanged(element, everyPath(type, after))
    } else if (after === undefined) {
      this.#addRemoved(element, everyPath(type, before))
    } else {
      const { changed, removed } = compareValues(type, before, after)
      this.#addChanged(element, changed)
      this.#addRemoved(element, removed)
    }
  }

  /**
   * Items under one key. Live lists may contain duplicates (validation forbids them, but old objects may have them);
   * they are compared as one unit.
   */
  addItems(element: PathElement, type: TypeRef, before: readonly JsonValue[], after: readonly JsonValue[]): void {
    if (before.length <= 1 && after.length <= 1) {
      this.add(element, type, before[0], after[0])
    } else if (before.length > 1 && after.length > 1) {
      if (!jsonEqual([...before], [...after])) this.#addChanged(element, leafFieldSet)
    } else if (before.length > 1) {
      this.add(element, type, undefined, after[0])
      this.#addRemoved(element, leafFieldSet)
    } else {
      this.add(element, type, before[0], undefined)
      this.#addChanged(element, leafFieldSet)
    }
  }

  difference(): Difference {
    if (this.#changed === undefined && this.#removed === undefined) return none
    return { changed: fieldSetNode(false, this.#changed), removed: fieldSetNode(false, this.#removed) }
  }

  #addChanged(element: PathElement, set: FieldSet): void {
    if (isEmptyFieldSet(set)) return
    this.#changed ??= new Map()
    this.#changed.set(element, unionOf(this.#changed.get(element) ?? emptyFieldSet, set))
  }

  #addRemoved(element: PathElement, set: FieldSet): void {
    if (isEmptyFieldSet(set)) return
    this.#removed ??= new Map()
    this.#removed.set(element, unionOf(this.#removed.get(element) ?? emptyFieldSet, set))
  }
}

/** The path of the value and of everything in it that can be owned. */
function everyPath(type: TypeRef, value: JsonValue): FieldSet {
  const kind = kindOf(type, value)
  if (isAtomic(type, kind) || isEmptyContainer(value)) return leafFieldSet
  const children = new Map<PathElement, FieldSet>()
  if (kind === 'map' && isJsonObject(value)) {
    for (const name in value) {
      const field = value[name]
      if (field !== undefined) children.set(fieldElement(name), everyPath(fieldTypeOrDeduced(type, name), field))
    }
  } else if (type !== undefined && Array.isArray(value)) {
    for (const [element, items] of itemsByElement(type, value) ?? []) {
      const [item] = items
      children.set(element, items.length > 1 || item === undefined ? leafFieldSet : everyPath(type.items, item))
    }
  }
  return fieldSetNode(true, children)
}
