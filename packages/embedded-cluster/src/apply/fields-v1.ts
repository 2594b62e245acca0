/** Field sets in the form of `managedFields[].fieldsV1`. */
import { isJsonObject, type JsonObject } from '../json.ts'
import { emptyFieldSet, type FieldSet, fieldSetNode } from './field-set.ts'
import { type PathElement, parsePathElement } from './path-element.ts'

/**
 * Reads `fieldsV1`. An empty object marks a member; `.` marks a member that has further members below it.
 *
 * *Errors*: throws when a key starts like `f:`, `k:`, `v:` or `i:` but is malformed, or a value is not an object.
 */
export function decodeFieldsV1(fields: JsonObject | undefined): FieldSet {
  if (fields === undefined) return emptyFieldSet
  return decodeNode(fields, true)
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
    // A kind of step that this version does not know may come from a newer one: it is skipped, not refused.
    if (element === undefined && /^[^fkvi]:/.test(name)) continue
    if (element === undefined || !isJsonObject(below)) {
      throw new Error(`fieldsV1 has ${JSON.stringify(name)}, which is not a path element over an object`)
    }
    children ??= new Map()
    children.set(element, decodeNode(below, false))
  }
  return fieldSetNode(member || (isLeaf && !isRoot), children)
}

/** Writes `fieldsV1`, fields in byte order. */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  const fields: JsonObject = {}
  if (set.children.size === 0) return fields
  if (set.member) fields['.'] = {}
  for (const element of [...set.children.keys()].sort()) {
    const child = set.children.get(element)
    if (child !== undefined) fields[element] = encodeFieldsV1(child)
  }
  return fields
}
