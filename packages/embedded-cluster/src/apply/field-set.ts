/** Sets of field paths as a tree, used to record field ownership. */
import type { PathElement } from './path-element.ts'

/**
 * A set of paths. The node at a path records whether that path is a member and which longer paths are. Nodes are
 * immutable, so results of set operations share unchanged nodes.
 *
 * *Guarantees*: no child is empty, so a set is empty exactly when `isEmptyFieldSet` is true for its root.
 */
export interface FieldSet {
  readonly member: boolean
  readonly children: ReadonlyMap<PathElement, FieldSet>
}

const noChildren: ReadonlyMap<PathElement, FieldSet> = new Map()

/** The set without any path. */
export const emptyFieldSet: FieldSet = Object.freeze({ member: false, children: noChildren })

/** A set that contains only its own root path: a member with nothing below. */
export const leafFieldSet: FieldSet = Object.freeze({ member: true, children: noChildren })

/** Whether no path is in the set. */
export function isEmptyFieldSet(set: FieldSet): boolean {
  return !set.member && set.children.size === 0
}

/** A node of the given parts; empty children must have been removed already. */
export function fieldSetNode(member: boolean, children: ReadonlyMap<PathElement, FieldSet> | undefined): FieldSet {
  if (children === undefined || children.size === 0) return member ? leafFieldSet : emptyFieldSet
  return { member, children }
}

/** The set of the given paths. */
export function fieldSetOf(paths: Iterable<readonly PathElement[]>): FieldSet {
  let set = emptyFieldSet
  for (const path of paths) {
    set = unionOf(
      set,
      path.reduceRight<FieldSet>(
        (below, element) => ({ member: false, children: new Map([[element, below]]) }),
        leafFieldSet,
      ),
    )
  }
  return set
}

/** Whether exactly this path is a member. */
export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set
  for (const element of path) {
    node = node.children.get(element)
    if (node === undefined) return false
  }
  return node.member
}

/** Every member: at each level first the members themselves, then what is below them, both in byte order. */
export function* pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
  if (set.member && prefix.length === 0) yield prefix
  const elements = [...set.children.keys()].sort()
  for (const element of elements) {
    if (set.children.get(element)?.member) yield [...prefix, element]
  }
  for (const element of elements) {
    const child = set.children.get(element)
    if (child !== undefined && child.children.size > 0) yield* pathsOf(child, [...prefix, element])
  }
}

/** Whether both sets have the same members. */
export function equalFieldSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.member !== b.member || a.children.size !== b.children.size) return false
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    if (other === undefined || !equalFieldSets(child, other)) return false
  }
  return true
}

/** Paths in either set. */
export function unionOf(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptyFieldSet(b)) return a
  if (isEmptyFieldSet(a)) return b
  let children: Map<PathElement, FieldSet> | undefined
  for (const [element, child] of b.children) {
    const own = a.children.get(element)
    const merged = own === undefined ? child : unionOf(own, child)
    if (merged === own) continue
    children ??= new Map(a.children)
    children.set(element, merged)
  }
  const member = a.member || b.member
  if (children === undefined && member === a.member) return a
  return fieldSetNode(member, children ?? a.children)
}

/** Paths in both sets. */
export function intersectionOf(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  let children: Map<PathElement, FieldSet> | undefined
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    if (other === undefined) continue
    const shared = intersectionOf(child, other)
    if (isEmptyFieldSet(shared)) continue
    children ??= new Map()
    children.set(element, shared)
  }
  return fieldSetNode(a.member && b.member, children)
}

/** Paths of `a` that are not themselves in `b`; paths below a path of `b` stay. */
export function differenceOf(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return emptyFieldSet
  return subtract(a, b, differenceOf)
}

/** Paths of `a` that are neither in `b` nor below a path of `b`. */
export function recursiveDifferenceOf(a: FieldSet, b: FieldSet): FieldSet {
  return b.member ? emptyFieldSet : subtract(a, b, recursiveDifferenceOf)
}

function subtract(a: FieldSet, b: FieldSet, below: (a: FieldSet, b: FieldSet) => FieldSet): FieldSet {
  let children: Map<PathElement, FieldSet> | undefined
  for (const [element, other] of b.children) {
    const own = a.children.get(element)
    if (own === undefined) continue
    const rest = below(own, other)
    if (rest === own) continue
    children ??= new Map(a.children)
    if (isEmptyFieldSet(rest)) children.delete(element)
    else children.set(element, rest)
  }
  const member = a.member && !b.member
  if (children === undefined && member === a.member) return a
  return fieldSetNode(member, children ?? a.children)
}
