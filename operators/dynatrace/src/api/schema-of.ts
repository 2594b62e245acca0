/** The schemas of all versions, each derived once. */
import { type AnyCrd, objectSchema, type StructuralSchema } from '@reeve/crd'

/**
 * Derived schemas by the definition of their version. A memo, not state: definitions never change, and deriving one
 * takes milliseconds, which every review would pay.
 */
const derived = new WeakMap<object, StructuralSchema>()

/** As `objectSchema`, for callers that ask often. */
export function schemaOf(crd: AnyCrd, version: string): StructuralSchema {
  const definition = crd.versions[version]
  const known = definition && derived.get(definition)
  if (known !== undefined) return known
  const schema = objectSchema(crd, version)
  if (definition !== undefined) derived.set(definition, schema)
  return schema
}
