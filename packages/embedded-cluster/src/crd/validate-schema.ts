/** Checks that the schema of a version is one the server can prune, default and validate by. */
import type { JsonObject } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { checkStructural } from '../schema/structural.ts'
import type { FieldError } from '../status-error.ts'

/** Problems of a version's `openAPIV3Schema`, reported under `field`. Rules are checked by their engine. */
export function validateDefinitionSchema(schema: JsonObject, field: string): FieldError[] {
  // What is written as a schema is checked here to be one.
  return checkStructural(schema as Schema, field)
}
