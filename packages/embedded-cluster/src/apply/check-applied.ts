/** Checks that a configuration fits its schema well enough to be merged. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { describePath, fieldElement, type PathElement } from './path-element.ts'
import { fieldType, isDeduced, itemElement, ListItemError, type TypeRef } from './typed-schema.ts'

/** What is wrong, one line per field, empty when the configuration can be applied. */
export function checkApplied(schema: Schema, applied: JsonObject): string[] {
  const problems: string[] = []
  checkValue(schema, applied, [], problems)
  return problems
}

function checkValue(type: TypeRef, value: JsonValue, path: readonly PathElement[], problems: string[]): void {
  if (value === null || type === undefined || isDeduced(type)) return
  if (type['x-kubernetes-int-or-string']) {
    if (typeof value === 'object') problems.push(`${describePath(path)}: expected scalar, got ${goKind(value)}`)
    return
  }
  switch (type.type) {
    case 'object':
      if (isJsonObject(value)) checkFields(type, value, path, problems)
      else problems.push(`${describePath(path)}: expected map, got ${goKind(value)}`)
      return
    case 'array':
      if (Array.isArray(value)) checkItems(type, value, path, problems)
      else problems.push(`${describePath(path)}: expected list, got ${goKind(value)}`)
      return
    case 'integer':
    case 'number':
      if (typeof value !== 'number') {
        problems.push(`${describePath(path)}: expected numeric (int or float), got ${goKind(value)}`)
      }
      return
    default:
      if (typeof value !== type.type)
        problems.push(`${describePath(path)}: expected ${type.type}, got ${goKind(value)}`)
  }
}

function checkFields(type: Schema, value: JsonObject, path: readonly PathElement[], problems: string[]): void {
  for (const name in value) {
    const field = value[name]
    if (field === undefined) continue
    const below = [...path, fieldElement(name)]
    const declared = fieldType(type, name)
    if (declared === 'undeclared') problems.push(`${describePath(below)}: field not declared in schema`)
    else checkValue(declared, field, below, problems)
  }
}

function checkItems(type: Schema, items: readonly JsonValue[], path: readonly PathElement[], problems: string[]): void {
  const relation = type['x-kubernetes-list-type']
  const isMerged = relation === undefined ? type['x-kubernetes-patch-strategy'] !== undefined : relation !== 'atomic'
  const seen = new Set<PathElement>()
  for (const [index, item] of items.entries()) {
    let element = `i:${index}`
    if (isMerged) {
      try {
        element = itemElement(type, item)
      } catch (error) {
        if (!(error instanceof ListItemError)) throw error
        problems.push(`${describePath(path)}: element ${index}: ${error.message}`)
        continue
      }
      if (seen.has(element)) {
        problems.push(`${describePath(path)}: duplicate entries for key ${describePath([element])}`)
      }
      seen.add(element)
    }
    checkValue(type.items, item, [...path, element], problems)
  }
}

function goKind(value: JsonValue): string {
  if (Array.isArray(value)) return 'list'
  if (isJsonObject(value)) return 'map'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  return typeof value
}
