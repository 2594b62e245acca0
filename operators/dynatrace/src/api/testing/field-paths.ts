/** Writes a schema as one line per field, to compare it with a list. */
import type { StructuralSchema } from '@reeve/crd'

/** Lines such as `spec.oneAgent.classicFullStack?: object`, sorted; `!` is required and `?` nullable. */
export function fieldPaths(schema: StructuralSchema): readonly string[] {
  const lines: string[] = []
  const { spec = {}, status = {} } = schema.properties ?? {}
  walkMembers('spec', spec, lines)
  walkMembers('status', status, lines)
  return lines.sort()
}

function walkMembers(path: string, schema: StructuralSchema, lines: string[]): void {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    walk(`${path}.${name}`, schema.required?.includes(name) ? '!' : '', member, lines)
  }
}

function walk(path: string, required: string, schema: StructuralSchema, lines: string[]): void {
  const flags = `${required}${schema.nullable ? '?' : ''}`
  const byDefault = schema.default === undefined ? '' : `=${String(schema.default)}`
  lines.push(`${path}${flags}: ${typeName(schema)}${byDefault}`)
  if (schema.items) walk(`${path}[]`, '', schema.items, lines)
  if (typeof schema.additionalProperties === 'object') walk(`${path}{}`, '', schema.additionalProperties, lines)
  walkMembers(path, schema, lines)
}

function typeName(schema: StructuralSchema): string {
  if (schema['x-kubernetes-int-or-string']) return schema.pattern ? 'qty' : 'intstr'
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? 'time' : 'str'
    case 'boolean':
      return 'bool'
    case 'integer':
      return { int32: 'i32', int64: 'i64' }[schema.format ?? ''] ?? 'int'
    case 'array':
      return listName(schema)
    default:
      return objectName(schema)
  }
}

function listName(schema: StructuralSchema): string {
  const type = schema['x-kubernetes-list-type']
  if (type === undefined) return 'list'
  return type === 'map' ? `list(map:${schema['x-kubernetes-list-map-keys']?.join(',')})` : `list(${type})`
}

function objectName(schema: StructuralSchema): string {
  if (schema.additionalProperties) return 'map'
  if (schema['x-kubernetes-preserve-unknown-fields']) return 'object(open)'
  return schema['x-kubernetes-map-type'] === 'atomic' ? 'object(atomic)' : 'object'
}
