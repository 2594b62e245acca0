/** Formats values in Go's notations, as the API server prints them in messages. */
import { isJsonObject, type JsonValue } from '../json.ts'

/** Like `map[a:1 b:[x]]`. */
export function plainForm(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(plainForm).join(' ')}]`
  if (!isJsonObject(value)) return String(value)
  const fields = Object.keys(value).sort()
  return `map[${fields.map((name) => `${name}:${plainForm(value[name])}`).join(' ')}]`
}

/** Like `map[string]interface {}{"a":1}`. */
export function literalForm(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(literalForm).join(', ')}}`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value).sort()
  return `map[string]interface {}{${fields.map((name) => `${JSON.stringify(name)}:${literalForm(value[name])}`).join(', ')}}`
}
