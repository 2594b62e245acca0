/** What is disposed at the end of a reconcile. `AsyncDisposableStack` does the same, from Node 24 on. */

/** Resources that are disposed together. */
export class Disposables implements AsyncDisposable {
  readonly #resources: AsyncDisposable[] = []

  /** Adds a resource, and returns it. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.#resources.push(resource)
    return resource
  }

  /** Disposes the last one first, and all of them whatever fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = []
    for (const resource of this.#resources.splice(0).reverse()) {
      try {
        await resource[Symbol.asyncDispose]()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 1) throw new AggregateError(failures, 'several resources could not be disposed')
    if (failures.length === 1) throw failures[0]
  }
}
