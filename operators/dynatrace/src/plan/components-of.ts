/** To which resource and which of its components an object belongs. */
import { type KubeObject, Namespaces, type ObjectMeta, type Resource, Secrets, type Stored } from '@reeve/kube'
import { identityOf, type ObjectsById, titleOf } from '@reeve/plan'
import { controllerOf } from '@reeve/runtime/owner-references'
import { type DynaKube, DynaKubes } from '../api/latest.ts'
import { injection } from '../controllers/dynakube/components/injection/injection.ts'
import { INSTANCE_LABEL } from '../controllers/dynakube/components/injection/map-namespaces.ts'
import { COPIED_SECRETS } from '../controllers/dynakube/components/injection/namespace-objects.ts'
import { COMPONENTS } from '../controllers/dynakube/components.ts'

/** Whose an object is. */
export interface Place {
  /** Such as `DynaKube dynatrace/dynakube`; absent for what belongs to none. */
  readonly owner?: string
  readonly component: string
}

/** What stands in the files itself. */
export const FILES = 'files'

/** In this order components are shown. */
export const COMPONENT_ORDER: readonly string[] = [FILES, ...COMPONENTS.map(({ name }) => name)]

/** Finds the component of objects, given the states before and after. */
export class Places {
  readonly #files: ReadonlySet<string>
  readonly #owners = new Map<string, Stored<KubeObject>>()
  /** Components by object, for DynaKubes as they were and as they will be: what goes is known from what was. */
  readonly #components = new Map<string, string>()
  readonly #states: readonly ObjectsById[]

  constructor(files: readonly KubeObject[], before: ObjectsById, after: ObjectsById) {
    this.#files = new Set(files.map(identityOf))
    this.#states = [after, before]
    for (const object of [...before.values(), ...after.values()]) {
      if (object.metadata.uid !== undefined) this.#owners.set(object.metadata.uid, object)
      if (object.kind === DynaKubes.kind) this.#register(object as Stored<DynaKube>) // by its kind
    }
  }

  /** The place of an object. */
  of(object: KubeObject): Place {
    if (this.#files.has(identityOf(object))) return { component: FILES, ...this.#resource(object) }
    const owner = this.#owners.get(controllerOf(object)?.uid ?? '')
    if (owner !== undefined) {
      return { owner: titleOf(owner), component: this.#components.get(identityOf(object)) ?? owner.kind }
    }
    const dynakube = this.#injecting(object)
    return { component: injection.name, ...(dynakube !== undefined && { owner: dynakube }) }
  }

  #register(dynakube: Stored<DynaKube>): void {
    const { namespace = '' } = dynakube.metadata
    for (const component of COMPONENTS) {
      for (const { resource, name } of component.mayOwn?.(dynakube) ?? []) {
        this.#components.set(identify(resource, { namespace, name }), component.name)
      }
    }
  }

  #resource(object: KubeObject): { readonly owner?: string } {
    const isResource = object.apiVersion.startsWith(`${DynaKubes.group}/`)
    return isResource ? { owner: titleOf(object) } : {}
  }

  /** The DynaKube whose name a namespace carries, for the namespace and for copies in it. */
  #injecting({ kind, metadata }: KubeObject): string | undefined {
    const isCopy = kind === Secrets.kind && COPIED_SECRETS.some((name) => name === metadata.name)
    const namespace = kind === Namespaces.kind ? metadata.name : isCopy ? metadata.namespace : undefined
    for (const state of this.#states) {
      const instance = state.get(identify(Namespaces, { name: namespace ?? '' }))?.metadata.labels?.[INSTANCE_LABEL]
      const owner = [...state.values()].find(
        (object) => object.kind === DynaKubes.kind && object.metadata.name === instance,
      )
      if (owner !== undefined) return titleOf(owner)
    }
    return undefined
  }
}

function identify({ group, version, kind }: Resource, metadata: ObjectMeta): string {
  return identityOf({ apiVersion: `${group}${group && '/'}${version}`, kind, metadata })
}
