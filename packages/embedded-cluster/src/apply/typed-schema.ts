/** How a schema divides a value into fields that can be owned: which maps and lists are merged and which are atomic. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { ownEntry, ownField } from '../schema/json-value.ts'
import { objectMetaSchema } from '../schema/object-meta.ts'
import type { Schema } from '../schema/schema.ts'
import { keyElement, type PathElement, valueElement } from './path-element.ts'

/**
 * The type of a value. `undefined` means that nothing is declared about it (unknown fields that are preserved): its
 * type is deduced from the value, objects are merged field by field and lists are atomic.
 */
export type TypeRef = Schema | undefined

/** The kind of a value, for merging. */
export type ValueKind = 'scalar' | 'list' | 'map'

/** The declared kind, or for undeclared values the kind deduced from the value. */
export function kindOf(type: TypeRef, value: JsonValue): ValueKind {
  if (type !== undefined && !isDeduced(type)) {
    if (type['x-kubernetes-int-or-string']) return 'scalar'
    if (type.type === 'object') return 'map'
    if (type.type === 'array') return 'list'
    return 'scalar'
  }
  if (Array.isArray(value)) return 'list'
  return isJsonObject(value) ? 'map' : 'scalar'
}

/** Whether the type is deduced from the value. */
export function isDeduced(type: TypeRef): boolean {
  return type === undefined || (type.type === undefined && type['x-kubernetes-int-or-string'] !== true)
}

/** Whether a map or list of this type is owned and replaced as a whole. */
export function isAtomic(type: TypeRef, kind: ValueKind): boolean {
  if (kind === 'scalar') return true
  if (kind === 'map') return type?.['x-kubernetes-map-type'] === 'atomic'
  return type === undefined || listRelation(type) === 'atomic'
}

function listRelation(type: Schema): 'atomic' | 'set' | 'map' {
  const declared = type['x-kubernetes-list-type']
  if (declared !== undefined) return declared
  // Older kinds declare only the merge key of strategic merge patch.
  if (type['x-kubernetes-patch-strategy']?.split(',').includes('merge') !== true) return 'atomic'
  return type['x-kubernetes-patch-merge-key'] === undefined ? 'set' : 'map'
}

function listKeys(type: Schema): readonly string[] {
  const keys = type['x-kubernetes-list-map-keys']
  if (keys !== undefined) return keys
  const mergeKey = type['x-kubernetes-patch-merge-key']
  return mergeKey === undefined ? [] : [mergeKey]
}

/** Whether the map's schema declares this field, as opposed to allowing any name. */
export function isDeclaredField(type: TypeRef, name: string): boolean {
  return type?.properties !== undefined && Object.hasOwn(type.properties, name)
}

/** The type of a field, or `'undeclared'` when the schema does not allow it. */
export function fieldType(type: TypeRef, name: string): TypeRef | 'undeclared' {
  if (type === undefined) return undefined
  const declared = ownEntry(type.properties, name)
  if (declared !== undefined) return declared
  const additional = type.additionalProperties
  if (typeof additional === 'object') return additional
  if (additional === true || type['x-kubernetes-preserve-unknown-fields'] || type.properties === undefined) {
    return undefined
  }
  return 'undeclared'
}

/** Like `fieldType`, for values that were accepted already: undeclared types are deduced. */
export function fieldTypeOrDeduced(type: TypeRef, name: string): TypeRef {
  const found = fieldType(type, name)
  return found === 'undeclared' ? undefined : found
}

/** A list item without an identity. The message names what is missing. */
export class ListItemError extends Error {
  override readonly name = 'ListItemError'
  readonly code = 'LIST_ITEM_WITHOUT_KEY'
}

/**
 * The path element of an item of a merged list. Omitted key fields get the schema's default; one key is sufficient,
 * because validation decides whether the others are required.
 *
 * *Errors*: throws a ListItemError when the item has no key at all or cannot be a member of a set.
 */
export function itemElement(listType: Schema, item: JsonValue): PathElement {
  if (listRelation(listType) === 'set') return setMember(item)
  if (item === null) throw new ListItemError('associative list with keys may not have a null element')
  if (!isJsonObject(item)) throw new ListItemError('associative list with keys may not have non-map elements')
  const keys: JsonObject = {}
  const names = listKeys(listType)
  for (const name of names) {
    const value = ownField(item, name) ?? ownEntry(listType.items?.properties, name)?.default
    if (value !== undefined) keys[name] = value
  }
  if (Object.keys(keys).length === 0) {
    const list = names.map((name) => JSON.stringify(name)).join(' ')
    throw new ListItemError(
      `associative list with keys has an element that omits all key fields [${list}] (and doesn't have default values for any key fields)`,
    )
  }
  return keyElement(keys)
}

function setMember(item: JsonValue): PathElement {
  if (item === null) throw new ListItemError("associative list without keys has an element that's an explicit null")
  if (Array.isArray(item)) throw new ListItemError('not supported: associative list with lists as elements')
  if (isJsonObject(item)) throw new ListItemError("associative list without keys has an element that's a map type")
  return valueElement(item)
}

/** The path elements of all items, or `undefined` when one has none: such a list can only be treated as atomic. */
export function itemElements(listType: Schema, items: readonly JsonValue[]): PathElement[] | undefined {
  try {
    return items.map((item) => itemElement(listType, item))
  } catch (error) {
    if (error instanceof ListItemError) return undefined
    throw error
  }
}

/**
 * The type of a whole object. `metadata` is always ObjectMeta, whatever the schema of a custom resource declares,
 * because the server treats its lists by ObjectMeta's keys.
 */
export function objectType(schema: Schema | undefined): Schema {
  if (schema === undefined) return untypedObject
  const own = schema.properties ?? {}
  if (own.metadata?.properties?.managedFields !== undefined) return schema
  return { ...schema, properties: { apiVersion: text, kind: text, ...own, metadata: objectMetaSchema } }
}

const text: Schema = { type: 'string' }
const untypedObject: Schema = {
  type: 'object',
  properties: { apiVersion: text, kind: text, metadata: objectMetaSchema },
  'x-kubernetes-preserve-unknown-fields': true,
}
