/** One revision of one object: immutable, and serialized at most once. */
import type { JsonObject } from '../json.ts'

const encoder = new TextEncoder()

/** An object in the store. Its JSON is created on first use and shared by every list and watch. */
export class StoredObject {
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: string
  /** Deeply frozen. `metadata.resourceVersion` equals `revision`. */
  readonly object: JsonObject
  readonly revision: number
  #json: Uint8Array | undefined

  constructor(key: string, object: JsonObject, revision: number) {
    this.key = key
    this.object = object
    this.revision = revision
  }

  /** UTF-8 JSON without a trailing newline. */
  get json(): Uint8Array {
    this.#json ??= encoder.encode(JSON.stringify(this.object))
    return this.#json
  }
}

/** The store key of an object. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

/**
 * Freezes `value` and everything below it, and returns it. Stops at frozen parts, so that an update that shares most of
 * its tree with the previous revision only visits changed parts.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  if (Array.isArray(value)) for (const item of value) deepFreeze(item)
  else for (const field in value) deepFreeze(value[field])
  return value
}
