/** Drops fields that a schema does not declare. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { ownEntry, setField } from './json-value.ts'
import { objectMetaSchema } from './object-meta.ts'
import type { Schema } from './schema.ts'

/** The result of pruning. */
export interface Pruned {
  /** The input itself when nothing was dropped. */
  readonly object: JsonObject
  /** Paths of dropped fields, such as `spec.template.spec.containers[0].imagee`. */
  readonly unknown: string[]
}

/** Options of {@link prune}. */
export interface PruneOptions {
  /** Whether frozen parts come from the store and are pruned already. @default false */
  readonly trustsFrozen?: boolean
}

/**
 * Removes undeclared fields. `apiVersion`, `kind` and `metadata` of the object and of every embedded resource are
 * always kept, whatever the schema declares.
 *
 * *Guarantees*: the input is not modified, and unchanged parts are shared with the result.
 */
export function prune(schema: Schema | undefined, object: JsonObject, options: PruneOptions = {}): Pruned {
  if (schema === undefined) return { object, unknown: [] }
  const pruner = new Pruner(options.trustsFrozen === true)
  const pruned = pruner.object(schema, object, '', true)
  const { unknown } = pruner
  // The API server reports unknown fields of built-in objects in document order, those of custom resources sorted.
  return { object: pruned, unknown: schema['x-inline'] ? unknown : unknown.sort() }
}

/** Paths of the fields in a part of an object that its schema does not declare. */
export function unknownFields(schema: Schema, value: JsonValue): string[] {
  const pruner = new Pruner(false)
  pruner.value(schema, value, '')
  return pruner.unknown
}

class Pruner {
  /** Paths of dropped fields. */
  readonly unknown: string[] = []
  readonly #trustsFrozen: boolean

  constructor(trustsFrozen: boolean) {
    this.#trustsFrozen = trustsFrozen
  }

  value(schema: Schema, value: JsonValue, path: string): JsonValue {
    if (Array.isArray(value)) {
      const items = schema.items
      return items === undefined ? value : this.#items(items, value, path)
    }
    if (!isJsonObject(value)) return value
    return this.object(schema, value, path, schema['x-kubernetes-embedded-resource'] === true)
  }

  object(schema: Schema, object: JsonObject, path: string, isResource: boolean): JsonObject {
    if (this.#trustsFrozen && Object.isFrozen(object)) return object
    let pruned: JsonObject | undefined
    for (const name in object) {
      const value = object[name]
      if (value === undefined) continue
      const fieldPath = path === '' ? name : `${path}.${name}`
      const field = isResource ? resourceField(schema, name) : fieldSchema(schema, name)
      const kept = field === undefined ? undefined : field === 'any' ? value : this.value(field, value, fieldPath)
      if (kept === value) continue
      pruned ??= { ...object }
      if (kept === undefined) {
        this.unknown.push(fieldPath)
        delete pruned[name]
      } else {
        setField(pruned, name, kept)
      }
    }
    return pruned ?? object
  }

  #items(items: Schema, list: JsonValue[], path: string): JsonValue[] {
    let pruned: JsonValue[] | undefined
    for (const [index, item] of list.entries()) {
      const kept = this.value(items, item, `${path}[${index}]`)
      if (kept === item) continue
      pruned ??= [...list]
      pruned[index] = kept
    }
    return pruned ?? list
  }
}

function resourceField(schema: Schema, name: string): Schema | 'any' | undefined {
  if (name === 'apiVersion' || name === 'kind') return 'any'
  return name === 'metadata' ? objectMetaSchema : fieldSchema(schema, name)
}

/** The schema to prune a field by, `'any'` when everything in it is kept, `undefined` when the field is dropped. */
function fieldSchema(schema: Schema, name: string): Schema | 'any' | undefined {
  const declared = ownEntry(schema.properties, name)
  if (declared !== undefined) return declared
  const additional = schema.additionalProperties
  if (typeof additional === 'object') return additional
  return additional === true || schema['x-kubernetes-preserve-unknown-fields'] ? 'any' : undefined
}
