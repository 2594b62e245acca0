/** Sets defaults as the API server does, for objects that have not been sent to one. */
import { ownValue } from '@reeve/http'
import type { StructuralSchema } from './structural-schema.ts'

/**
 * Returns `value` with the schema's defaults. The input is not modified; unchanged parts are shared with the result.
 *
 * *Guarantees*: idempotent; a `null` where the schema has a default and is not nullable counts as absent.
 *
 * @example
 * applyDefaults(objectSchema(WebAppCrd, 'v1'), { apiVersion, kind, metadata, spec: { image: 'nginx:1.29' } })
 */
export function applyDefaults<T>(schema: StructuralSchema, value: T): T {
  // The result has the input's shape plus optional fields that the schema declares.
  return fill(schema, value) as T
}

function fill(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : mapShared(value, (item) => fill(items, item))
  }
  if (typeof value !== 'object' || value === null) return value
  const source = value as Readonly<Record<string, unknown>>
  // Not an object: assigning to its field __proto__ would replace its prototype.
  const changes = new Map<string, unknown>()
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const present = ownValue(source, name)
    const isAbsent = present === undefined || (present === null && !child.nullable && child.default !== undefined)
    if (isAbsent && child.default === undefined) continue
    const filled = fill(child, isAbsent ? structuredClone(child.default) : present)
    if (filled !== present) changes.set(name, filled)
  }
  const values = schema.additionalProperties
  if (typeof values === 'object') {
    for (const [name, present] of Object.entries(source)) {
      if (ownValue(schema.properties, name) !== undefined) continue
      const filled = fill(values, present)
      if (filled !== present) changes.set(name, filled)
    }
  }
  return changes.size === 0 ? value : { ...source, ...Object.fromEntries(changes) }
}

function mapShared(items: readonly unknown[], fn: (item: unknown) => unknown): readonly unknown[] {
  const mapped = items.map(fn)
  return mapped.every((item, index) => item === items[index]) ? items : mapped
}
