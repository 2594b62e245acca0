/** Field sets in the format of `managedFields[].fieldsV1`. */
import { isJsonObject, type JsonObject } from '../json.ts'
import { deepFreeze } from '../store/stored-object.ts'
import { emptyFieldSet, type FieldSet, fieldSetNode } from './field-set.ts'
import { type PathElement, parsePathElement } from './path-element.ts'

/**
 * Reads `fieldsV1`. An empty object marks a member; `.` marks a member that has further members below it.
 *
 * *Errors*: throws when a key starts like `f:`, `k:`, `v:` or `i:` but is malformed, or a value is not an object.
 */
export function decodeFieldsV1(fields: JsonObject | undefined): FieldSet {
  return fields === undefined ? emptyFieldSet : forms.setOf(fields)
}

function decodeNode(fields: JsonObject, isRoot: boolean): FieldSet {
  let member = false
  let children: Map<PathElement, FieldSet> | undefined
  let isLeaf = true
  for (const name in fields) {
    isLeaf = false
    if (name === '.') {
      member = true
      continue
    }
    const element = parsePathElement(name)
    const below = fields[name]
    // An unknown kind of path element may come from a newer version: it is skipped, not rejected.
    if (element === undefined && /^[^fkvi]:/.test(name)) continue
    if (element === undefined || !isJsonObject(below)) {
      throw new Error(`fieldsV1 has ${JSON.stringify(name)}, which is not a path element with an object value`)
    }
    children ??= new Map()
    children.set(element, decodeNode(below, false))
  }
  return fieldSetNode(member || (isLeaf && !isRoot), children)
}

/** Writes `fieldsV1`, fields in byte order. The result is frozen, because equal sets may share it. */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  return forms.jsonOf(set)
}

function encodeNode(set: FieldSet): JsonObject {
  const fields: JsonObject = {}
  if (set.children.size === 0) return fields
  if (set.member) fields['.'] = {}
  for (const element of [...set.children.keys()].sort()) {
    const child = set.children.get(element)
    if (child !== undefined) fields[element] = encodeNode(child)
  }
  return fields
}

/**
 * Caches both forms of a set as long as one of them is in use: most writes change the entry of only one manager. The
 * values are immutable, so clusters in one process may share the cache.
 */
class FieldSetForms {
  readonly #sets = new WeakMap<JsonObject, FieldSet>()
  readonly #json = new WeakMap<FieldSet, JsonObject>()

  setOf(fields: JsonObject): FieldSet {
    const known = this.#sets.get(fields)
    if (known !== undefined) return known
    const set = decodeNode(fields, true)
    if (Object.isFrozen(fields)) this.#remember(set, fields)
    return set
  }

  jsonOf(set: FieldSet): JsonObject {
    const known = this.#json.get(set)
    if (known !== undefined) return known
    const fields = deepFreeze(encodeNode(set))
    this.#remember(set, fields)
    return fields
  }

  #remember(set: FieldSet, fields: JsonObject): void {
    this.#sets.set(fields, set)
    if (!this.#json.has(set)) this.#json.set(set, fields)
  }
}

const forms = new FieldSetForms()
