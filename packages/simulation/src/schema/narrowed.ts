/** Reduces a schema to the fields that matter, so that values can be generated from it. */
import type { StructuralSchema } from '@reeve/crd'

/**
 * The schema with only these fields of objects, each with all that is below it. What is required and not among them is
 * required no longer.
 *
 * @example
 * narrowed(schema, ['replicas', 'gateway.resources.limits'])
 */
export function narrowed(schema: StructuralSchema, fields: readonly string[]): StructuralSchema {
  const paths = fields.map((field) => field.split('.'))
  return cut(schema, paths, '')
}

function cut(schema: StructuralSchema, paths: readonly (readonly string[])[], where: string): StructuralSchema {
  const byName = Map.groupBy(paths, ([name]) => name ?? '')
  const properties = [...byName].map(([name, inner]): [string, StructuralSchema] => {
    const field = schema.properties?.[name]
    if (field === undefined) throw new RangeError(`the schema has no field ${where}${name}`)
    const rests = inner.map(([, ...rest]) => rest)
    return [name, rests.some(({ length }) => length === 0) ? field : cut(field, rests, `${where}${name}.`)]
  })
  const required = schema.required?.filter((name) => byName.has(name))
  return { ...schema, properties: Object.fromEntries(properties), ...(required && { required }) }
}
