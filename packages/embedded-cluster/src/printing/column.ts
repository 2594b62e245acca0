/** Columns of a table, and the cells that several kinds share. */

import { formatLabelSelector } from '../api/label-selector.ts'
import { arrayAt, isJsonObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../json.ts'
import { since } from './age.ts'

/** One column: its definition, and its cell for an object. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** Columns above 0 are only shown by `-o wide`. */
  readonly priority: number
  readonly cell: (object: JsonObject, now: number) => JsonValue
}

/** A column of type string. */
export function column(name: string, cell: Column['cell'], more: Partial<Column> = {}): Column {
  return { name, type: 'string', format: '', description: '', priority: 0, cell, ...more }
}

/** A column of type integer. */
export function integerColumn(name: string, cell: Column['cell']): Column {
  return column(name, cell, { type: 'integer' })
}

/** A column that only `-o wide` shows. */
export function wide(name: string, cell: Column['cell']): Column {
  return column(name, cell, { priority: 1 })
}

/** The object's name. */
export const nameColumn = column('Name', (object) => String(objectAt(object, 'metadata').name ?? ''), {
  format: 'name',
})

/** The time since the object was created. */
export const ageColumn = column('Age', (object, now) => since(objectAt(object, 'metadata').creationTimestamp, now))

/** The value at a path such as `status.phase`. */
export function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object
  for (const field of path.split('.')) value = isJsonObject(value) ? value[field] : undefined
  return value
}

/** A cell with the string at a path, or `fallback`. */
export function textCell(path: string, fallback = ''): Column['cell'] {
  return (object) => {
    const value = valueAt(object, path)
    return value === undefined || value === null || value === '' ? fallback : String(value)
  }
}

/** A cell with the number at a path, or 0. */
export function numberCell(path: string): Column['cell'] {
  return (object) => {
    const value = valueAt(object, path)
    return typeof value === 'number' ? value : 0
  }
}

/** A cell with the boolean at a path, or false. */
export function booleanCell(path: string): Column['cell'] {
  return (object) => valueAt(object, path) === true
}

/** A cell with the number of entries of the list or map at a path. */
export function countCell(...paths: readonly string[]): Column['cell'] {
  return (object) => {
    let count = 0
    for (const path of paths) {
      const value = valueAt(object, path)
      if (Array.isArray(value)) count += value.length
      else if (isJsonObject(value)) count += Object.keys(value).length
    }
    return count
  }
}

/** Objects in a list at a path. */
export function objectsAt(object: JsonObject, path: string): readonly JsonObject[] {
  const value = valueAt(object, path)
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Containers, images and selector of a workload's template, for `-o wide`. */
export function templateColumns(templatePath: string): readonly Column[] {
  const containers = (object: JsonObject) => objectsAt(object, `${templatePath}.spec.containers`)
  return [
    wide('Containers', (object) =>
      containers(object)
        .map((container) => stringAt(container, 'name') ?? '')
        .join(','),
    ),
    wide('Images', (object) =>
      containers(object)
        .map((container) => stringAt(container, 'image') ?? '')
        .join(','),
    ),
  ]
}

/** A selector in one line; `<none>` when it is empty. */
export function selectorCell(path: string): Column['cell'] {
  return (object) => {
    const value = valueAt(object, path)
    const text = isJsonObject(value) ? formatLabelSelector(value) : ''
    return text === '' ? '<none>' : text
  }
}

/** A map of labels in one line. */
export function labelsCell(path: string): Column['cell'] {
  return (object) => {
    const value = valueAt(object, path)
    const text = isJsonObject(value) ? formatLabelSelector({ matchLabels: value }) : ''
    return text === '' ? '<none>' : text
  }
}

/** At most three entries, then the number of the remaining ones. */
export function shortened(entries: readonly string[]): string {
  if (entries.length === 0) return '<none>'
  const shown = entries.slice(0, 3).join(',')
  return entries.length > 3 ? `${shown} + ${entries.length - 3} more...` : shown
}

/** The status of a condition; `undefined` when the object does not have it. */
export function conditionStatus(object: JsonObject, type: string): string | undefined {
  for (const condition of arrayAt(objectAt(object, 'status'), 'conditions')) {
    if (isJsonObject(condition) && condition.type === type) return stringAt(condition, 'status')
  }
  return undefined
}
