/** Checks that the schema of a version is one the server can prune, default and validate by. */
import { type JsonObject, stringAt } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import { invalidValue, required } from './field-path.ts'

/** Problems of a version's `openAPIV3Schema`, reported under `field`. */
export function validateDefinitionSchema(schema: JsonObject, field: string): FieldError[] {
  const type = stringAt(schema, 'type') ?? ''
  if (type === '') return [required(`${field}.type`, 'must not be empty at the root')]
  if (type !== 'object') return [invalidValue(`${field}.type`, type, 'must be object at the root')]
  return []
}
