/** Keeps the releases of one namespace from occupying all workers: Helm may take minutes on each, as its hooks decide. */

/** Releases of one namespace that Helm works on at a time. As many processes as one namespace gets of the default number. */
const MAX_PER_NAMESPACE = 3

/** Counts the releases that Helm works on, by namespace. */
export class HelmTurns {
  readonly #working = new Map<string, number>()

  /**
   * Does `work` now, or not at all: whoever waits for a turn must not occupy a worker meanwhile.
   *
   * @returns what `work` resolves with; undefined when it is not the turn of the namespace
   *
   * @example
   * const done = await turns.take('acme', () => helm.upgrade(release, chart))
   */
  async take<T>(namespace: string, work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
    const working = this.#working.get(namespace) ?? 0
    if (working >= MAX_PER_NAMESPACE) return undefined
    this.#working.set(namespace, working + 1)
    try {
      return { result: await work() }
    } finally {
      const left = (this.#working.get(namespace) ?? 1) - 1
      if (left > 0) this.#working.set(namespace, left)
      else this.#working.delete(namespace)
    }
  }
}
