/** The dependents of objects: the owner references of all objects, by the uid of the owner. */
import type { ClusterApi } from '../api/cluster-api.ts'
import { type ClusterObject, namespaceOf, type OwnerReference } from './kinds/meta.ts'

type ServedResource = ReturnType<ClusterApi['resources']>[number]

/** The id of an object of any resource: `resource|namespace|name`. */
export function objectId(resource: string, object: ClusterObject): string {
  return `${resource}|${namespaceOf(object)}|${object.metadata.name}`
}

/** The parts of an {@link objectId}. */
export function splitObjectId(id: string): {
  readonly resource: string
  readonly namespace: string
  readonly name: string
} {
  const [resource = '', namespace = '', name = ''] = id.split('|')
  return { resource, namespace, name }
}

/** Finds the resource that holds objects of a kind. */
export class ResourceKinds {
  readonly #api: ClusterApi
  #byKind = new Map<string, ServedResource>()

  constructor(api: ClusterApi) {
    this.#api = api
  }

  /** The resource of the owner's kind, in any version; `undefined` if it is not served. */
  find(reference: OwnerReference): ServedResource | undefined {
    const slash = reference.apiVersion.indexOf('/')
    const kind = `${slash === -1 ? '' : reference.apiVersion.slice(0, slash)}/${reference.kind}`
    // Kinds may be added at any time. An unknown one may be new; refreshing is cheap because it is rare.
    if (!this.#byKind.has(kind)) this.refresh()
    return this.#byKind.get(kind)
  }

  /** Updates the served kinds, after one may have been removed. */
  refresh(): void {
    this.#byKind = new Map(this.#api.resources().map((served) => [`${served.group}/${served.kind}`, served]))
  }
}

/** Objects with owners, and the dependents of each owner. */
export class OwnerGraph {
  readonly #references = new Map<string, readonly OwnerReference[]>()
  readonly #dependents = new Map<string, Set<string>>()

  /** Records the owners of the object `id`; returns whether they changed. */
  set(id: string, references: readonly OwnerReference[]): boolean {
    const before = this.#references.get(id) ?? []
    if (sameReferences(before, references)) return false
    this.remove(id)
    if (references.length === 0) return true
    this.#references.set(id, references)
    for (const { uid } of references) {
      const dependents = this.#dependents.get(uid)
      if (dependents === undefined) this.#dependents.set(uid, new Set([id]))
      else dependents.add(id)
    }
    return true
  }

  remove(id: string): void {
    for (const { uid } of this.#references.get(id) ?? []) {
      const dependents = this.#dependents.get(uid)
      dependents?.delete(id)
      if (dependents?.size === 0) this.#dependents.delete(uid)
    }
    this.#references.delete(id)
  }

  clear(): void {
    this.#references.clear()
    this.#dependents.clear()
  }

  /** Every object that has an owner. */
  all(): string[] {
    return [...this.#references.keys()]
  }

  dependentsOf(uid: string): string[] {
    return [...(this.#dependents.get(uid) ?? [])]
  }

  /** Whether the object blocks the foreground deletion of its owner. */
  blocks(id: string, ownerUid: string): boolean {
    const references = this.#references.get(id) ?? []
    return references.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true)
  }
}

function sameReferences(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  return a.every((left, index) => {
    const right = b[index]
    return (
      left.uid === right?.uid &&
      left.name === right.name &&
      left.kind === right.kind &&
      left.apiVersion === right.apiVersion &&
      left.blockOwnerDeletion === right.blockOwnerDeletion
    )
  })
}
