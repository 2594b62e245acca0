/** Checks that a configuration fits its schema well enough to be merged. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { literalForm, plainForm } from '../schema/go-format.ts'
import type { Schema } from '../schema/schema.ts'
import { describePath, fieldElement, type PathElement } from './path-element.ts'
import { fieldType, isAtomic, isDeduced, itemElement, ListItemError, type TypeRef } from './typed-schema.ts'

/**
 * What is wrong, one line per problem, empty when the configuration can be applied. In each map the first unknown
 * field, by name, ends the search: the API server does not look further either.
 */
export function checkApplied(schema: Schema, applied: JsonObject): string[] {
  const problems: string[] = []
  checkValue(schema, applied, [], problems)
  return problems
}

function checkValue(type: TypeRef, value: JsonValue, path: readonly PathElement[], problems: string[]): void {
  if (value === null || type === undefined || isDeduced(type)) return
  if (type.type === 'object' && isJsonObject(value)) {
    checkFields(type, value, path, problems)
  } else if (type.type === 'array' && Array.isArray(value)) {
    checkItems(type, value, path, problems)
  } else {
    const expected = mismatch(type, value)
    if (expected !== undefined) problems.push(`${describePath(path)}: expected ${expected}`)
  }
}

/** What was expected and what came instead, in the spelling of the API server; `undefined` when the type fits. */
function mismatch(type: Schema, value: JsonValue): string | undefined {
  if (type['x-kubernetes-int-or-string']) {
    return typeof value === 'object' ? `any scalar, got &{${plainForm(value)}}` : undefined
  }
  switch (type.type) {
    case 'object':
      return `map, got &{${plainForm(value)}}`
    case 'array':
      return `list, got &{${plainForm(value)}}`
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : `numeric (int or float), got ${typeOf(value)}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `boolean, got &{${plainForm(value)}}`
    default:
      return typeof value === 'string' ? undefined : `string, got &value.valueUnstructured{Value:${literalForm(value)}}`
  }
}

function checkFields(type: Schema, value: JsonObject, path: readonly PathElement[], problems: string[]): void {
  for (const name of Object.keys(value).sort()) {
    const field = value[name]
    if (field === undefined) continue
    const below = [...path, fieldElement(name)]
    const declared = fieldType(type, name)
    if (declared === 'undeclared') {
      problems.push(`${describePath(below)}: field not declared in schema`)
      return
    }
    checkValue(declared, field, below, problems)
  }
}

function checkItems(type: Schema, items: readonly JsonValue[], path: readonly PathElement[], problems: string[]): void {
  const isMerged = !isAtomic(type, 'list')
  const seen = new Set<PathElement>()
  for (const [index, item] of items.entries()) {
    let element = `i:${index}`
    if (isMerged) {
      try {
        element = itemElement(type, item)
      } catch (error) {
        if (!(error instanceof ListItemError)) throw error
        problems.push(`${describePath(path)}: element ${index}: ${error.message}`)
        return
      }
      if (seen.has(element)) {
        problems.push(`${describePath(path)}: duplicate entries for key ${describePath([element])}`)
      }
      seen.add(element)
    }
    checkValue(type.items, item, [...path, element], problems)
  }
}

function typeOf(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (isJsonObject(value)) return 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
