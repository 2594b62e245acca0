/** Reads that concurrent reviews share, each as fresh as if the review had read by itself. */

interface Running {
  /** Resolves when the read has ended, however. */
  readonly ended: Promise<void>
  /** The read that starts then. */
  next: Promise<unknown> | undefined
}

/**
 * Limits reads of the same thing to one at a time. Who asks while one is running shares the next one.
 *
 * *Guarantee*: a result is from a read that started after `of` was called: it has everything that was written before.
 * This is what a cache cannot promise, and what lets a user apply two objects that conflict one after the other and get
 * the second one rejected. *Assumption*: nobody changes what is returned.
 *
 * @example
 * const namespaces = new SharedRead(() => client.listAll(Namespaces))
 * await namespaces.of('') // one request, for however many reviews arrived during the one before
 */
export class SharedRead<T> {
  readonly #read: (key: string) => Promise<T>
  readonly #running = new Map<string, Running>()

  /** @param read must end in bounded time by itself: no single caller may abort it for the others */
  constructor(read: (key: string) => Promise<T>) {
    this.#read = read
  }

  /** Reads what `key` names. *Errors*: those of the read; the reads after a failed one are not affected. */
  of(key: string): Promise<T> {
    const running = this.#running.get(key)
    if (running === undefined) return this.#start(key)
    running.next ??= running.ended.then(() => this.#start(key))
    // Only #start of this class, whose reads return T, provides it.
    return running.next as Promise<T>
  }

  #start(key: string): Promise<T> {
    const reading = this.#read(key)
    const end = () => {
      if (running.next === undefined) this.#running.delete(key)
    }
    const running: Running = { ended: reading.then(end, end), next: undefined }
    this.#running.set(key, running)
    return reading
  }
}
