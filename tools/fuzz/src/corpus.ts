/** The inputs that mutations start from: seeds, and inputs that led to something new. */

/** Beyond these the corpus would slow the search down rather than help it. */
const MAX_ENTRIES = 3_000
const MAX_TOTAL_BYTES = 8 * 1024 * 1024

/**
 * Inputs by outcome: an input joins when its outcome is new, or when it is a shorter one for a known outcome.
 *
 * @example
 * corpus.learn(input, 'StatusError 400 unable to parse requirement')
 */
export class Corpus {
  readonly #entries: Buffer[] = []
  /** Index into the entries. */
  readonly #byOutcome = new Map<string, number>()
  #totalBytes = 0

  get size(): number {
    return this.#entries.length
  }

  get entries(): readonly Buffer[] {
    return this.#entries
  }

  /** Adds a seed regardless of its outcome. */
  add(input: Buffer): void {
    this.#entries.push(ownCopy(input))
    this.#totalBytes += input.length
  }

  /** An entry; every number names one. */
  pick(number: number): Buffer {
    return this.#entries[number % Math.max(1, this.#entries.length)] ?? Buffer.alloc(0)
  }

  /** The name of what `input` has taught, if it was kept for that. */
  learn(input: Buffer, outcome: string): string | undefined {
    const lesson = lessonOf(outcome, input)
    const known = this.#byOutcome.get(lesson)
    if (known === undefined) {
      if (this.#entries.length >= MAX_ENTRIES || this.#totalBytes + input.length > MAX_TOTAL_BYTES) return undefined
      this.#byOutcome.set(lesson, this.#entries.length)
      this.add(input)
      return lesson
    }
    const entry = this.#entries[known]
    // Half at least: or else it would be replaced again and again for a byte.
    if (entry === undefined || input.length * 2 > entry.length) return undefined
    this.#entries[known] = ownCopy(input)
    this.#totalBytes += input.length - entry.length
    return lesson
  }
}

/** A mutated input is often a short view of a large buffer, which the view would keep in memory. */
function ownCopy(input: Buffer): Buffer {
  return Buffer.from(Uint8Array.from(input).buffer)
}

/**
 * The outcome without what may come from the input: words that occur in it or are not plain words. Or else every input
 * would have a new outcome.
 */
function lessonOf(outcome: string, input: Buffer): string {
  const text = input.toString('latin1')
  const words = outcome.split(/\s+/).map((word) => (PLAIN_WORD.test(word) && !text.includes(word) ? word : '…'))
  return words.filter((word, index) => word !== '…' || words[index - 1] !== '…').join(' ')
}

const PLAIN_WORD = /^[\w.,:;()#-]+$/
