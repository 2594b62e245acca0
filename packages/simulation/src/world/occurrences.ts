/** How a name ends that the server generated. */
const GENERATED = /-[bcdfghjklmnpqrstvwxz2456789]{5}$/

/** How the name of an Event ends. */
const EVENT = /^(\S+ events(?:\.events\.k8s\.io)? .*)\.[0-9a-f]{8,}$/

/**
 * Numbers what happens in a run so that the same thing has the same number in another run, although the two are not the
 * same request by request: by what it is, and how often it has happened before.
 */
export class Occurrences {
  readonly #known: ReadonlyMap<string, number>
  readonly #numbers = new Map<string, number>()
  readonly #counts = new Map<string, number>()
  #next: number

  /** @param like another run, whose numbers are used as far as they go */
  constructor(like?: Occurrences) {
    this.#known = like?.numbers ?? new Map()
    this.#next = this.#known.size
  }

  /** All numbers that were given, by what they stand for. */
  get numbers(): ReadonlyMap<string, number> {
    return this.#numbers
  }

  /**
   * The number of the next occurrence. What is drawn in a name differs in every run, and does not count.
   *
   * @example
   * new Occurrences().next('create services default/shop') // 0
   */
  next(description: string): number {
    const what = description.replace(GENERATED, '-*').replace(EVENT, '$1.*')
    const count = (this.#counts.get(what) ?? 0) + 1
    this.#counts.set(what, count)
    const id = `${what} #${count}`
    const number = this.#known.get(id) ?? this.#next++
    this.#numbers.set(id, number)
    return number
  }
}
