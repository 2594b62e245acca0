/**
 * Custom resources as read by clients: according to the current schema of their definition, not the one when they were
 * written.
 */
import type { JsonObject } from '../json.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { applyDefaults } from '../schema/default.ts'
import { prune } from '../schema/prune.ts'
import type { Schema } from '../schema/schema.ts'
import { deepFreeze, StoredObject } from '../store/stored-object.ts'

/** Caches results, so that an object is completed once for all lists and watches. */
export class ReadForms {
  readonly #registry: ResourceRegistry
  readonly #forms = new WeakMap<StoredObject, { readonly schema: Schema; readonly form: StoredObject }>()

  constructor(registry: ResourceRegistry) {
    this.#registry = registry
  }

  /**
   * A stored object without fields that its schema no longer has, and with new defaults; usually `stored` itself,
   * unchanged.
   */
  of(info: ResourceInfo, stored: StoredObject): StoredObject {
    if (!info.custom) return stored
    const schema = this.#schemaOf(info, stored.object)
    if (schema === undefined) return stored
    const known = this.#forms.get(stored)
    if (known?.schema === schema) return known.form
    const completed = applyDefaults(schema, prune(schema, stored.object).object)
    const isSame = completed === stored.object
    const form = isSame ? stored : new StoredObject(stored.key, deepFreeze(completed), stored.revision)
    this.#forms.set(stored, { schema, form })
    return form
  }

  /** That of the version in which the object is stored, which a definition may have left since. */
  #schemaOf(info: ResourceInfo, { apiVersion }: JsonObject): Schema | undefined {
    const name = groupResource(info)
    const own = this.#registry.versionsOf(name).find(({ group, version }) => apiVersion === `${group}/${version}`)
    return (own ?? this.#registry.stored(name))?.schema
  }

  /** A converted object without the fields that its version does not have. */
  converted(object: JsonObject): JsonObject {
    const [version = '', group = ''] = String(object.apiVersion).split('/').reverse()
    const info = this.#registry.byKind(group, version, String(object.kind))
    return info?.custom === true ? prune(info.schema, object).object : object
  }
}
