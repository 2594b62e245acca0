/** The schemas of all versions, derived once each. */
import { type AnyCrd, objectSchema, type StructuralSchema } from '@reeve/crd'

/**
 * Derived schemas by the definition of their version. This is a cache, not state: definitions never change, and deriving
 * one takes milliseconds in every review.
 */
const derived = new WeakMap<object, StructuralSchema>()

/** As `objectSchema`, cached. */
export function schemaOf(crd: AnyCrd, version: string): StructuralSchema {
  const definition = crd.versions[version]
  const known = definition && derived.get(definition)
  if (known !== undefined) return known
  const schema = objectSchema(crd, version)
  if (definition !== undefined) derived.set(definition, schema)
  return schema
}
