/** What the calls of the operator removed outside the cluster: a record that is removed and made again looks unchanged. */
import type { OutsideWorld } from './outside-world.ts'

/** Follows the names in the state of outside worlds across calls. */
export class OutsideEffects {
  readonly #worlds: () => Iterable<OutsideWorld>
  readonly #removals = new Map<string, number>()
  #known: ReadonlySet<string> = new Set()
  #inFlight = 0

  constructor(worlds: () => Iterable<OutsideWorld>) {
    this.#worlds = worlds
  }

  /** How often calls of the operator removed each record, by id, such as `outside shop`. */
  get removals(): ReadonlyMap<string, number> {
    return this.#removals
  }

  /** Runs a call. What changes while no call runs is not the operator's doing. */
  async during<R>(act: () => R | Promise<R>): Promise<R> {
    if (this.#inFlight === 0) this.#known = this.#names()
    this.#inFlight += 1
    try {
      return await act()
    } finally {
      this.#inFlight -= 1
      const names = this.#names()
      for (const name of this.#known)
        if (!names.has(name)) this.#removals.set(name, (this.#removals.get(name) ?? 0) + 1)
      this.#known = names
    }
  }

  #names(): ReadonlySet<string> {
    const worlds = [...new Set(this.#worlds())]
    return new Set(worlds.flatMap((world) => Object.keys(world.state()).map((name) => `outside ${name}`)))
  }
}
