/** The fields of a configuration, which its manager owns after an apply. */
import { isJsonObject, type JsonValue } from '../json.ts'
import { isEmptyContainer } from '../schema/json-value.ts'
import { emptyFieldSet, type FieldSet, fieldSetNode, isEmptyFieldSet, leafFieldSet } from './field-set.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import { fieldTypeOrDeduced, isAtomic, isDeclaredField, itemElements, kindOf, type TypeRef } from './typed-schema.ts'

/**
 * Every leaf of `value`. Items of merged lists and entries of free-form maps are members themselves, because applying
 * one means that it must exist; a declared struct is owned only through its leaves.
 */
export function ownedFields(type: TypeRef, value: JsonValue): FieldSet {
  const kind = kindOf(type, value)
  if (value === null || isAtomic(type, kind)) return leafFieldSet
  if (kind === 'list') return ownedItems(type, value)
  if (!isJsonObject(value)) return leafFieldSet
  const children = new Map<PathElement, FieldSet>()
  for (const name in value) {
    const field = value[name]
    if (field === undefined) continue
    const below = ownedFields(fieldTypeOrDeduced(type, name), field)
    const isMember = field === null || (isJsonObject(field) && isEmptyContainer(field)) || !isDeclaredField(type, name)
    const node = isMember && !below.member ? fieldSetNode(true, below.children) : below
    if (!isEmptyFieldSet(node)) children.set(fieldElement(name), node)
  }
  return fieldSetNode(false, children)
}

function ownedItems(type: TypeRef, value: JsonValue): FieldSet {
  if (type === undefined || !Array.isArray(value)) return leafFieldSet
  const elements = itemElements(type, value)
  if (elements === undefined) return leafFieldSet
  if (elements.length === 0) return emptyFieldSet
  const children = new Map<PathElement, FieldSet>()
  for (const [index, element] of elements.entries()) {
    const item = value[index]
    if (item !== undefined) children.set(element, fieldSetNode(true, ownedFields(type.items, item).children))
  }
  return fieldSetNode(false, children)
}

/**
 * Adds every declared field that has members below it. Removing fields by such a set also removes structs that would
 * become empty, which is what users expect when they delete the last line of a block.
 */
export function withDeclaredParents(type: TypeRef, set: FieldSet): FieldSet {
  if (set.children.size === 0) return set
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of set.children) {
    const isField = element.startsWith('f:')
    const name = element.slice(2)
    const below = withDeclaredParents(isField ? fieldTypeOrDeduced(type, name) : type?.items, child)
    const isMember = below.member || (isField && isDeclaredField(type, name))
    children.set(element, isMember === below.member ? below : fieldSetNode(isMember, below.children))
  }
  return fieldSetNode(set.member, children)
}
