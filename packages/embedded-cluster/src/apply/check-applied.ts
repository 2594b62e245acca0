/** Checks that a configuration matches its schema well enough to be merged. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { literalForm, plainForm } from '../schema/go-format.ts'
import type { Schema } from '../schema/schema.ts'
import { describePath, fieldElement, type PathElement } from './path-element.ts'
import { fieldType, isAtomic, isDeduced, itemElement, ListItemError, type TypeRef } from './typed-schema.ts'

/**
 * The problems, one line each; empty when the configuration can be applied. In each map only the first unknown field,
 * by name, is reported, as in the API server.
 */
export function checkApplied(schema: Schema, applied: JsonObject): string[] {
  const problems: string[] = []
  checkValue(schema, applied, undefined, problems)
  return problems
}

/** A path as a chain towards the root: it is formatted only for a problem, which is rare. */
interface Place {
  readonly parent: Place | undefined
  /** The name of a field, or a complete step. */
  readonly name: string
  readonly isField: boolean
}

function describe(place: Place | undefined): string {
  const path: PathElement[] = []
  for (let step = place; step !== undefined; step = step.parent) {
    path.unshift(step.isField ? fieldElement(step.name) : step.name)
  }
  return describePath(path)
}

function checkValue(type: TypeRef, value: JsonValue, place: Place | undefined, problems: string[]): void {
  if (value === null || type === undefined || isDeduced(type)) return
  if (type.type === 'object' && isJsonObject(value)) {
    checkFields(type, value, place, problems)
  } else if (type.type === 'array' && Array.isArray(value)) {
    checkItems(type, value, place, problems)
  } else {
    const expected = mismatch(type, value)
    if (expected !== undefined) problems.push(`${describe(place)}: expected ${expected}`)
  }
}

/** The expected type and the actual value, in the API server's wording; `undefined` when the type matches. */
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

function checkFields(type: Schema, value: JsonObject, parent: Place | undefined, problems: string[]): void {
  for (const name of Object.keys(value).sort()) {
    const field = value[name]
    if (field === undefined) continue
    const place: Place = { parent, name, isField: true }
    const declared = fieldType(type, name)
    if (declared === 'undeclared') {
      problems.push(`${describe(place)}: field not declared in schema`)
      return
    }
    checkValue(declared, field, place, problems)
  }
}

function checkItems(type: Schema, items: readonly JsonValue[], parent: Place | undefined, problems: string[]): void {
  const isMerged = !isAtomic(type, 'list')
  const seen = new Set<PathElement>()
  for (const [index, item] of items.entries()) {
    let name = `i:${index}`
    if (isMerged) {
      try {
        name = itemElement(type, item)
      } catch (error) {
        if (!(error instanceof ListItemError)) throw error
        problems.push(`${describe(parent)}: element ${index}: ${error.message}`)
        return
      }
      if (seen.has(name)) problems.push(`${describe(parent)}: duplicate entries for key ${describePath([name])}`)
      seen.add(name)
    }
    checkValue(type.items, item, { parent, name, isField: false }, problems)
  }
}

function typeOf(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (isJsonObject(value)) return 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
