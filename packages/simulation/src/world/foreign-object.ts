/** An object of another owner with a name that the operator needs. */
import type { KubeObject } from '@reeve/kube'
import { ALLOCATED } from '../compare/snapshot.ts'
import type { PlainObject } from '../operator-under-test.ts'
import { deleteAsSomebody, read, type Target, targetOf } from './targets.ts'
import type { World } from './world.ts'

/** Its owner. */
export type ForeignOwner = 'nobody' | 'someone else'

/** Its content. */
export interface ForeignObjectOptions {
  /** `configmaps default/shop`. */
  readonly id: string
  /** What the operator would create there. */
  readonly object: PlainObject
  readonly owner: ForeignOwner
  /** Whether it has the labels that the operator would give it. */
  readonly hasLabels: boolean
}

interface Metadata {
  readonly namespace?: string
  readonly name: string
  readonly labels?: unknown
}

const OWNER_NAME = 'someone-else'

/** A foreign object, with its owner if it has one. */
export class ForeignObject {
  readonly #world: World
  readonly #options: ForeignObjectOptions
  #uid: string | undefined
  #owner: Target | undefined

  constructor(world: World, options: ForeignObjectOptions) {
    this.#world = world
    this.#options = options
  }

  /** False when the server does not accept it here. */
  async create(): Promise<boolean> {
    const { id, object, hasLabels, owner } = this.#options
    const { foreigner } = this.#world
    const { namespace, name, labels } = object.metadata as Metadata
    const { apiVersion, kind } = object as { readonly apiVersion: string; readonly kind: string }
    const { status, metadata, ...content } = withoutAllocated(object, targetOf(id).resource) as PlainObject
    try {
      const resource = await foreigner.resourceFor({ apiVersion, kind })
      const owners = owner === 'nobody' ? [] : [await this.#createOwner(namespace)]
      const own = {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(hasLabels && labels !== undefined && { labels }),
        ...(owners.length > 0 && { ownerReferences: owners }),
      }
      const create = (body: PlainObject) =>
        // It has all identifying fields; the rest is as the server returned it.
        foreigner.create(resource, { ...body, metadata: own } as unknown as KubeObject)
      // Other content shows whether it is overwritten; where the server insists on a format, the same content has to do.
      const created = await create(withOtherData(content)).catch(() => create(content))
      this.#uid = created.metadata.uid
      return true
    } catch {
      await this.#removeOwner()
      return false
    }
  }

  /** Whether it still exists, in this incarnation. */
  get isThere(): boolean {
    return this.#uid !== undefined && read(this.#world, targetOf(this.#options.id))?.metadata.uid === this.#uid
  }

  /** Its owner deletes it, if it still exists, and goes. */
  async remove(): Promise<void> {
    if (this.isThere) await deleteAsSomebody(this.#world, targetOf(this.#options.id))
    await this.#removeOwner()
  }

  async #createOwner(namespace: string | undefined): Promise<PlainObject> {
    const { foreigner } = this.#world
    const kind = namespace === undefined ? 'Namespace' : 'ConfigMap'
    const resource = await foreigner.resourceFor({ apiVersion: 'v1', kind })
    const metadata = { name: OWNER_NAME, ...(namespace !== undefined && { namespace }) }
    const { uid } = (await foreigner.create(resource, { apiVersion: 'v1', kind, metadata })).metadata
    this.#owner = { resource: resource.plural, namespace, name: OWNER_NAME }
    return { apiVersion: 'v1', kind, name: OWNER_NAME, uid, controller: true }
  }

  async #removeOwner(): Promise<void> {
    if (this.#owner !== undefined) await deleteAsSomebody(this.#world, this.#owner)
    this.#owner = undefined
  }
}

/** The object without what the server chose for another one. */
function withoutAllocated(value: unknown, resource: string): unknown {
  const allocated = ALLOCATED[resource]
  if (allocated === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => withoutAllocated(item, resource))
  const kept = Object.entries(value).filter(([name, item]) => !allocated.has(name) || item === 'None')
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutAllocated(item, resource)]))
}

/** Other values under the same keys, where an object is a map of texts. */
function withOtherData(content: PlainObject): PlainObject {
  const { data, kind } = content
  if (typeof data !== 'object' || data === null) return content
  const text = 'of someone else'
  const value = kind === 'Secret' ? Buffer.from(text).toString('base64') : text
  return { ...content, data: Object.fromEntries(Object.keys(data).map((name) => [name, value])) }
}
