/** Errors that declared objects report although nothing failed: users see them, and alerts fire. */
import type { OperatorUnderTest, PlainObject } from '../operator-under-test.ts'
import { objectsOf, read } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import { reportedError } from './goal.ts'

/** Follows what declared objects report while something is merely slow. */
export class FalseErrors {
  readonly #world: World
  readonly #resources: ReadonlySet<string>
  /** By the object; `undefined` while nothing is slow. */
  #reported: Map<string, string> | undefined
  #before: ReadonlySet<string> = new Set()

  constructor(world: World, { crds }: OperatorUnderTest) {
    this.#world = world
    this.#resources = new Set(crds.map(({ name }) => name))
    world.cluster.api.subscribe(({ resource, object }) => {
      if (this.#resources.has(resource)) this.#receive(resource, object as unknown as PlainObject)
    })
  }

  /** From now on nothing fails. What is reported already may be true. */
  begin(): void {
    if (this.#reported !== undefined) return
    this.#reported = new Map()
    this.#before = new Set(this.#reporting())
  }

  /** The errors that were reported since then and are reported no longer; the others may be true. */
  end(): readonly string[] {
    const reported = this.#reported ?? new Map<string, string>()
    this.#reported = undefined
    const still = new Set(this.#reporting())
    return [...reported].filter(([id]) => !still.has(id)).map(([id, error]) => `${id} reported an error: ${error}`)
  }

  /** The objects that report an error now. */
  #reporting(): readonly string[] {
    return [...this.#resources].flatMap((resource) =>
      objectsOf(this.#world, resource)
        .filter((target) => reportedError((read(this.#world, target) ?? {}) as PlainObject) !== undefined)
        .map((target) => idOf(resource, target)),
    )
  }

  #receive(resource: string, object: PlainObject): void {
    const error = reportedError(object)
    const id = idOf(resource, object.metadata as { readonly namespace?: string; readonly name: string })
    if (error === undefined || this.#reported === undefined || this.#before.has(id)) return
    if (!this.#reported.has(id)) this.#reported.set(id, error)
  }
}

function idOf(
  resource: string,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
) {
  return `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
