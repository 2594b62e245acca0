/** Checks that the schema of a version is one the server can prune, default and validate by. */
import { isJsonObject, type JsonObject } from '../json.ts'
import { forbidden } from '../schema/field-error.ts'
import type { Schema } from '../schema/schema.ts'
import { checkStructural } from '../schema/structural.ts'
import type { FieldError } from '../status-error.ts'

/** Problems of a version's `openAPIV3Schema`, reported under `field`. */
export function validateDefinitionSchema(schema: JsonObject, field: string): FieldError[] {
  // What is written as a schema is checked here to be one.
  return [...checkStructural(schema as Schema, field), ...refuseRules(schema, field)]
}

/** A rule that is accepted and never evaluated would let through what its author forbade. */
function refuseRules(schema: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (schema['x-kubernetes-validations'] !== undefined) {
    errors.push(forbidden(`${field}.x-kubernetes-validations`, 'this cluster does not evaluate CEL rules'))
  }
  for (const part of ['items', 'additionalProperties'] as const) {
    const inner = schema[part]
    if (isJsonObject(inner)) errors.push(...refuseRules(inner, `${field}.${part}`))
  }
  for (const [name, inner] of Object.entries(isJsonObject(schema.properties) ? schema.properties : {})) {
    if (isJsonObject(inner)) errors.push(...refuseRules(inner, `${field}.properties[${name}]`))
  }
  return errors
}
