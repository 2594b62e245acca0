/** Sets the defaults that a schema declares. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { ownEntry, ownField, setField } from './json-value.ts'
import type { Schema } from './schema.ts'

/** Options of `applyDefaults`. */
export interface DefaultOptions {
  /**
   * Keeps a null that is not allowed and has no default, so that validation rejects it. In a request null means absent;
   * a null that remains after server-side apply is an error that must be reported.
   *
   * @default false: such a field is dropped
   */
  readonly keepNulls?: boolean
}

/**
 * Sets absent fields to their default, including inside defaults. A null where the schema does not allow null counts as
 * absent.
 *
 * *Guarantees*: the input is not modified, and unchanged parts are shared with the result.
 */
export function applyDefaults(
  schema: Schema | undefined,
  object: JsonObject,
  options: DefaultOptions = {},
): JsonObject {
  return schema === undefined ? object : new Defaulter(options.keepNulls ?? false).object(schema, object)
}

class Defaulter {
  readonly #keepNulls: boolean

  constructor(keepNulls: boolean) {
    this.#keepNulls = keepNulls
  }

  #value(schema: Schema, value: JsonValue): JsonValue {
    if (Array.isArray(value)) return schema.items === undefined ? value : this.#items(schema.items, value)
    return isJsonObject(value) ? this.object(schema, value) : value
  }

  #items(items: Schema, list: JsonValue[]): JsonValue[] {
    let defaulted: JsonValue[] | undefined
    for (const [index, item] of list.entries()) {
      const next = this.#entry(items, item)
      if (next === item) continue
      defaulted ??= [...list]
      defaulted[index] = next
    }
    return defaulted ?? list
  }

  /** An item or map entry: null is replaced by the default. */
  #entry(schema: Schema, value: JsonValue): JsonValue {
    const present = value === null && schema.nullable !== true ? (schema.default ?? null) : value
    return this.#value(schema, present)
  }

  object(schema: Schema, object: JsonObject): JsonObject {
    let defaulted: JsonObject | undefined
    const edit = (): JsonObject => {
      defaulted ??= { ...object }
      return defaulted
    }
    const { properties, additionalProperties } = schema
    for (const name in object) {
      const value = object[name]
      if (value === undefined) continue
      const declared = ownEntry(properties, name)
      if (declared === undefined) {
        if (typeof additionalProperties !== 'object') continue
        const next = this.#entry(additionalProperties, value)
        if (next === null && this.#isAbsence(additionalProperties)) delete edit()[name]
        else if (next !== value) setField(edit(), name, next)
      } else if (value === null && this.#isAbsence(declared)) {
        delete edit()[name]
      } else {
        const next = this.#value(declared, value)
        if (next !== value) setField(edit(), name, next)
      }
    }
    for (const name in properties) {
      const declared = properties[name]
      if (declared?.default === undefined || ownField(defaulted ?? object, name) !== undefined) continue
      setField(edit(), name, this.#value(declared, declared.default))
    }
    return defaulted ?? object
  }

  /** Whether a null means that the field is absent. Only typed fields can be invalid for being null. */
  #isAbsence(schema: Schema): boolean {
    if (schema.nullable === true) return false
    const isTyped = schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true
    return schema.default !== undefined || !isTyped || !this.#keepNulls
  }
}
