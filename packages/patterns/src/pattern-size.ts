/** How large a regular expression of RE2 becomes once its repeats are written out, computed without building it. */

/**
 * Tables of Unicode have hundreds of ranges: building one costs as much as this many characters. A class holds as many
 * tables as it names.
 */
const UNICODE_TABLE_SIZE = 20

/** What closing a group adds: a mark at either end, and something to match when it is empty. */
const GROUP_SIZE = 3

/** A branch, and something to match when it is empty. */
const ALTERNATIVE_SIZE = 2

/** What every copy of a repeated part adds: a way past it, and a way back. */
const COPY_SIZE = 2

const REPEAT = /\{(\d+)(?:,(\d*))?\}/y
const NAMED_GROUP = /\(\?P?</y
const GROUP = /\((?:\?[A-Za-z-]*:?)?/y

/**
 * At least as many instructions as RE2 compiles the expression to: `a{1000}` is seven characters and a thousand
 * instructions, and repeats inside repeats multiply. Takes time in proportion to the length of the text only.
 *
 * The size of an invalid regular expression is meaningless.
 *
 * @example
 * patternSize('(ab){3}') // 23: three times two characters, a group and the ways around it
 */
export function patternSize(pattern: string): number {
  return new SizeScanner(pattern).scan()
}

/** The sizes of what stands between two parentheses. */
interface Group {
  /** Everything before the last part. */
  before: number
  /** The last part: the one that a repeat is about. */
  last: number
}

class SizeScanner {
  readonly #text: string
  readonly #outer: Group[] = []
  readonly #missing = new Set<string>()
  #group: Group = { before: 0, last: 0 }
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  scan(): number {
    while (this.#at < this.#text.length) this.#next()
    // Groups that are still open at the end belong to an invalid expression.
    while (this.#outer.length > 0) this.#close()
    // What every program begins and ends with.
    return this.#group.before + this.#group.last + GROUP_SIZE
  }

  #next(): void {
    const character = this.#text[this.#at] ?? ''
    if (character === '\\') this.#escape()
    else if (character === '[') this.#characterClass()
    else if (character === '(') this.#open()
    else if (character === '{') this.#counted()
    else {
      this.#at += 1
      if (character === ')') this.#close()
      else if (character === '|') this.#part(ALTERNATIVE_SIZE)
      else if ('*+?'.includes(character)) this.#repeat(1)
      else this.#part(1)
    }
  }

  #part(size: number): void {
    this.#group.before += this.#group.last
    this.#group.last = size
  }

  /** `{3}`, `{3,}`, `{3,7}`; any other brace is a character. */
  #counted(): void {
    const [whole = '{', least, most] = this.#matchHere(REPEAT) ?? []
    this.#at += whole.length
    if (least === undefined) this.#part(1)
    else this.#repeat(Math.max(Number(least), Number(most ?? 0), 1))
  }

  #repeat(copies: number): void {
    this.#group.last = copies * (this.#group.last + COPY_SIZE)
  }

  #open(): void {
    const [named] = this.#matchHere(NAMED_GROUP) ?? []
    const [plain = '('] = this.#matchHere(GROUP) ?? []
    this.#at = named === undefined ? this.#at + plain.length : this.#find('>', this.#at + named.length) + 1
    this.#outer.push(this.#group)
    this.#group = { before: 0, last: 0 }
  }

  #close(): void {
    const outer = this.#outer.pop()
    if (outer === undefined) return
    const size = this.#group.before + this.#group.last + GROUP_SIZE
    this.#group = outer
    this.#part(size)
  }

  /** `\d`, `\x{10FFFF}`, `\pN`, `\p{Greek}`, `\Qtext\E`. */
  #escape(): void {
    if (this.#text[this.#at + 1] !== 'Q') {
      this.#part(this.#skipEscape())
      return
    }
    const end = this.#find('\\E', this.#at + 2)
    for (let left = end - this.#at - 2; left > 0; left -= 1) this.#part(1)
    this.#at = end + 2
  }

  /** Skips an escape and returns its size. */
  #skipEscape(): number {
    const kind = this.#text[this.#at + 1]
    const isTable = kind === 'p' || kind === 'P'
    const hasBraces = (isTable || kind === 'x') && this.#text[this.#at + 2] === '{'
    if (hasBraces) this.#at = this.#find('}', this.#at + 3) + 1
    else this.#at += isTable ? 3 : 2
    return isTable ? UNICODE_TABLE_SIZE : 1
  }

  /** `[^]a-z[:alpha:]\pL]`: one that begins with `]` contains it. */
  #characterClass(): void {
    this.#at += this.#text[this.#at + 1] === '^' ? 2 : 1
    let size = 1
    for (let isFirst = true; this.#at < this.#text.length; isFirst = false) {
      if (this.#text[this.#at] === ']' && !isFirst) break
      if (this.#text[this.#at] === '\\') size += this.#skipEscape() - 1
      else if (this.#text.startsWith('[:', this.#at)) this.#namedClass()
      else this.#at += 1
    }
    this.#at += 1
    this.#part(size)
  }

  /** `[:alpha:]`; without its end it is two characters. */
  #namedClass(): void {
    const end = this.#find(':]', this.#at + 2)
    this.#at = end < this.#text.length ? end + 2 : this.#at + 1
  }

  /** Where `what` stands, or the end of the text. What is missing once is not searched for again. */
  #find(what: string, from: number): number {
    const found = this.#missing.has(what) ? -1 : this.#text.indexOf(what, from)
    if (found >= 0) return found
    this.#missing.add(what)
    return this.#text.length
  }

  #matchHere(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    return expression.exec(this.#text)
  }
}
