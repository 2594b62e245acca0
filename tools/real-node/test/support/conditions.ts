/** Conditions in the status of objects. */
import type { Json } from './kubectl.ts'

/** A condition of an object, or `undefined`. */
export function condition(object: Json, type: string): Json {
  return object?.status?.conditions?.find((each: Json) => each.type === type)
}
