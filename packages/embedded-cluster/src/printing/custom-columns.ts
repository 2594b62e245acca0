/** Columns that a CustomResourceDefinition declares. */
import type { JsonObject, JsonValue } from '../json.ts'
import type { PrinterColumn, ResourceInfo } from '../registry/resource-info.ts'
import { compileJsonPath, JsonPathError } from '../schema/json-path.ts'
import { since } from './age.ts'
import { ageColumn, type Column, nameColumn } from './column.ts'

/** The name, then the declared columns; the age if none are declared. */
export function customColumns(info: ResourceInfo): readonly Column[] {
  const declared = info.printerColumns ?? []
  // In built-in kinds the age column has type string, in custom resources date.
  const age: Column = { ...ageColumn, type: 'date' }
  return declared.length === 0 ? [nameColumn, age] : [nameColumn, ...declared.map(customColumn)]
}

function customColumn(declared: PrinterColumn): Column {
  const find = compile(declared.jsonPath)
  return {
    name: declared.name,
    type: columnType(declared.type),
    format: declared.format ?? '',
    description: declared.description ?? '',
    priority: declared.priority ?? 0,
    cell: (object, now) => format(declared.type, find(object), now),
  }
}

function compile(path: string): (object: JsonObject) => JsonValue[] {
  try {
    return compileJsonPath(path)
  } catch (error) {
    // The definition was accepted with this path, so the cell is empty instead of failing for every object of the kind.
    if (error instanceof JsonPathError) return () => []
    throw error
  }
}

function columnType(type: string): Column['type'] {
  return type === 'integer' || type === 'number' || type === 'boolean' || type === 'date' ? type : 'string'
}

/** The value in the column's type; null when it is missing or has another type. */
function format(type: string, values: readonly JsonValue[], now: number): JsonValue {
  const [value] = values
  if (value === undefined || value === null) return null
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? since(value, now) : '<invalid>'
    default: {
      const shown = values.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
      return shown.join(',')
    }
  }
}
