/** A priority heap whose entries can be removed from the middle: timers get cancelled, delays get shortened. */

/** An entry of a {@link Heap}: keep it to remove the value later. */
export interface HeapEntry<T> {
  readonly value: T
  /** Position in the heap, -1 once the entry left it. Maintained only by the heap. */
  index: number
}

/**
 * A binary heap with removal in logarithmic time.
 *
 * *Assumption*: `before` is a strict order and the values' rank does not change while they are inside.
 *
 * @example
 * const heap = new Heap<number>((a, b) => a < b)
 * const entry = heap.push(3)
 * heap.push(1)
 * heap.remove(entry)
 * heap.pop() // 1
 */
export class Heap<T> {
  readonly #entries: HeapEntry<T>[] = []
  readonly #before: (a: T, b: T) => boolean

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before
  }

  get size(): number {
    return this.#entries.length
  }

  /** The first value in order, left where it is. */
  peek(): T | undefined {
    return this.#entries[0]?.value
  }

  push(value: T): HeapEntry<T> {
    const entry = { value, index: this.#entries.length }
    this.#entries.push(entry)
    this.#rise(entry)
    return entry
  }

  pop(): T | undefined {
    const first = this.#entries[0]
    if (first === undefined) return undefined
    this.remove(first)
    return first.value
  }

  /** Removes the entry; does nothing if it was removed already. */
  remove(entry: HeapEntry<T>): void {
    const { index } = entry
    if (index < 0 || this.#entries[index] !== entry) return
    entry.index = -1
    const last = this.#entries.pop()
    if (last === undefined || last === entry) return
    this.#place(last, index)
    this.#rise(last)
    this.#sink(last)
  }

  /** All values in no particular order. */
  *values(): Iterable<T> {
    for (const entry of this.#entries) yield entry.value
  }

  clear(): void {
    for (const entry of this.#entries) entry.index = -1
    this.#entries.length = 0
  }

  #place(entry: HeapEntry<T>, index: number): void {
    this.#entries[index] = entry
    entry.index = index
  }

  #rise(entry: HeapEntry<T>): void {
    while (entry.index > 0) {
      const above = (entry.index - 1) >> 1
      const parent = this.#entries[above]
      if (parent === undefined || !this.#before(entry.value, parent.value)) return
      this.#place(parent, entry.index)
      this.#place(entry, above)
    }
  }

  #sink(entry: HeapEntry<T>): void {
    for (;;) {
      const left = this.#entries[entry.index * 2 + 1]
      const right = this.#entries[entry.index * 2 + 2]
      if (left === undefined) return
      const child = right !== undefined && this.#before(right.value, left.value) ? right : left
      if (!this.#before(child.value, entry.value)) return
      const below = child.index
      this.#place(child, entry.index)
      this.#place(entry, below)
    }
  }
}
