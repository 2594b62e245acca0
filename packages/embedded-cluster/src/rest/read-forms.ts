/** Stored custom resources as reads show them: with the defaults their schema has now, not when they were written. */
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { applyDefaults } from '../schema/default.ts'
import type { Schema } from '../schema/schema.ts'
import { deepFreeze, StoredObject } from '../store/stored-object.ts'

/** Remembers what it made, so that an object is completed once for all lists and watches. */
export class ReadForms {
  readonly #registry: ResourceRegistry
  readonly #hasDefaults = new WeakMap<Schema, boolean>()
  readonly #forms = new WeakMap<StoredObject, { readonly schema: Schema; readonly form: StoredObject }>()

  constructor(registry: ResourceRegistry) {
    this.#registry = registry
  }

  /** `stored` itself when there is nothing to add, which is nearly always. */
  of(info: ResourceInfo, stored: StoredObject): StoredObject {
    if (!info.custom) return stored
    const schema = this.#registry.stored(groupResource(info))?.schema
    if (schema === undefined || !this.#declaresDefaults(schema)) return stored
    const known = this.#forms.get(stored)
    if (known?.schema === schema) return known.form
    const completed = applyDefaults(schema, stored.object)
    const isSame = completed === stored.object
    const form = isSame ? stored : new StoredObject(stored.key, deepFreeze(completed), stored.revision)
    this.#forms.set(stored, { schema, form })
    return form
  }

  #declaresDefaults(schema: Schema): boolean {
    let found = this.#hasDefaults.get(schema)
    if (found === undefined) {
      found = declaresDefaults(schema)
      this.#hasDefaults.set(schema, found)
    }
    return found
  }
}

function declaresDefaults(schema: Schema): boolean {
  if (schema.default !== undefined) return true
  const { items, additionalProperties, properties } = schema
  if (items !== undefined && declaresDefaults(items)) return true
  if (typeof additionalProperties === 'object' && declaresDefaults(additionalProperties)) return true
  return Object.values(properties ?? {}).some(declaresDefaults)
}
