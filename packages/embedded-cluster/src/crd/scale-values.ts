/** Validates the replica counts that the `scale` subresource of a custom resource reads. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import { invalid } from '../schema/field-error.ts'
import type { FieldError } from '../status-error.ts'

const MAX_REPLICAS = 2 ** 31 - 1

/** Errors of the replica counts in `object`; none if the kind has no scale subresource. */
export function validateScaleValues(info: ResourceInfo, object: JsonObject): FieldError[] {
  const { scalePaths } = info
  if (scalePaths === undefined) return []
  return [scalePaths.specReplicasPath, scalePaths.statusReplicasPath].flatMap((path) => {
    const value = valueAt(object, path)
    if (typeof value !== 'number') return []
    if (value < 0) return [invalid(path, value, 'should be a non-negative integer')]
    return value > MAX_REPLICAS ? [invalid(path, value, `should be less than or equal to ${MAX_REPLICAS}`)] : []
  })
}

/** The value at a path such as `.spec.replicas`. */
function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object
  for (const field of path.slice(1).split('.')) {
    value = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined
  }
  return value
}
