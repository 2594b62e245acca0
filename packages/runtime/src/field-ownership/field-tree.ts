/** Field ownership as the server records it (`fieldsV1`), in a form that is quick to walk and shared. */

/**
 * The fields that one manager owns below one point of an object.
 *
 * A tree without children owns the whole value: a scalar, or a list or map that is replaced as one.
 */
export interface FieldTree {
  /** `f:name`: fields of an object. */
  readonly fields: ReadonlyMap<string, FieldTree>
  /** `k:{…}`: items of a list, identified by key fields. */
  readonly items: readonly { readonly key: Readonly<Record<string, unknown>>; readonly tree: FieldTree }[]
  /** `v:…`: members of a set. */
  readonly members: readonly unknown[]
}

const LEAF: FieldTree = Object.freeze({ fields: new Map(), items: [], members: [] })

/** Whether the whole value at this point is owned. */
export function isLeaf(tree: FieldTree): boolean {
  return tree.fields.size === 0 && tree.items.length === 0 && tree.members.length === 0
}

/**
 * Parses `fieldsV1`. Positions in lists (`i:n`) do not occur in what the server records for typed objects and are
 * treated as ownership of the whole list.
 *
 * @example
 * const tree = parseFieldTree({ 'f:spec': { 'f:replicas': {} } })
 */
export function parseFieldTree(fieldsV1: unknown): FieldTree {
  if (typeof fieldsV1 !== 'object' || fieldsV1 === null) return LEAF
  const fields = new Map<string, FieldTree>()
  const items: { key: Readonly<Record<string, unknown>>; tree: FieldTree }[] = []
  const members: unknown[] = []
  for (const [element, child] of Object.entries(fieldsV1)) {
    const rest = element.slice(2)
    if (element.startsWith('f:')) fields.set(rest, parseFieldTree(child))
    else if (element.startsWith('k:')) items.push({ key: parseKey(rest), tree: parseFieldTree(child) })
    else if (element.startsWith('v:')) members.push(JSON.parse(rest))
  }
  return fields.size + items.length + members.length === 0 ? LEAF : { fields, items, members }
}

/**
 * All that several entries own together: a manager that applies and updates has two.
 *
 * @example
 * const tree = mergeFieldTrees(entries.map(({ fieldsV1 }) => parseFieldTree(fieldsV1)))
 */
export function mergeFieldTrees(trees: readonly FieldTree[]): FieldTree | undefined {
  const [first] = trees
  if (first === undefined || trees.length === 1) return first
  const names = new Set(trees.flatMap(({ fields }) => [...fields.keys()]))
  const fields = [...names].flatMap((name) => {
    const below = mergeFieldTrees(trees.flatMap((tree) => tree.fields.get(name) ?? []))
    return below === undefined ? [] : ([[name, below]] as const)
  })
  const items = new Map<string, FieldTree['items'][number][]>()
  for (const item of trees.flatMap((tree) => tree.items)) {
    const id = JSON.stringify(item.key)
    items.set(id, [...(items.get(id) ?? []), item])
  }
  return {
    fields: new Map(fields),
    items: [...items.values()].flatMap((alike) => {
      const [one] = alike
      const tree = mergeFieldTrees(alike.map((item) => item.tree))
      return one === undefined || tree === undefined ? [] : [{ key: one.key, tree }]
    }),
    members: trees.flatMap(({ members }) => members),
  }
}

function parseKey(text: string): Readonly<Record<string, unknown>> {
  const key: unknown = JSON.parse(text)
  // The server writes only objects here; anything else would match no item.
  return typeof key === 'object' && key !== null ? (key as Readonly<Record<string, unknown>>) : {}
}

/**
 * Parses each part of field ownership once. A cache keeps equal parts once, so a thousand Deployments of one template cost
 * a handful of trees; what differs, the references to their owners, is small and not kept. Forgotten together with the
 * parts.
 *
 * @example
 * const tree = new FieldTreePool().intern(fieldsV1)
 */
export class FieldTreePool {
  readonly #known = new WeakMap<object, FieldTree>()

  intern(fieldsV1: unknown): FieldTree {
    if (typeof fieldsV1 !== 'object' || fieldsV1 === null) return LEAF
    const fields = new Map<string, FieldTree>()
    for (const [element, child] of Object.entries(fieldsV1)) {
      // Items of lists and members of sets do not occur at the top of an object.
      if (!element.startsWith('f:')) return parseFieldTree(fieldsV1)
      const isDistinct = element === 'f:ownerReferences'
      const tree =
        element === 'f:metadata' ? this.intern(child) : isDistinct ? parseFieldTree(child) : this.#part(child)
      fields.set(element.slice(2), tree)
    }
    return fields.size === 0 ? LEAF : { fields, items: [], members: [] }
  }

  #part(part: unknown): FieldTree {
    if (typeof part !== 'object' || part === null) return LEAF
    const known = this.#known.get(part)
    if (known !== undefined) return known
    const tree = parseFieldTree(part)
    // Only what is frozen stays as it is.
    if (Object.isFrozen(part)) this.#known.set(part, tree)
    return tree
  }
}
