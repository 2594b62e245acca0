/** Whether fields have a certain layout: the quick way to pack an object that is built like another one. */
import { isEqual } from './is-equal.ts'
import { CODES, type Layout } from './layout.ts'

/**
 * What is to be packed of fields with this layout, if they have it; otherwise undefined.
 *
 * *Guarantees*: takes no longer than walking the fields once, and ends at the first difference.
 */
export function matchLayout(layout: Layout, object: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const match = new LayoutMatch(layout)
  for (const name of layout.names) if (!match.value(object[name])) return undefined
  return match.texts
}

class LayoutMatch {
  readonly texts: string[] = []
  readonly #code: string
  readonly #parts: readonly unknown[]
  #nextCode = 0
  #nextPart = 0

  constructor({ code, parts }: Layout) {
    this.#code = code
    this.#parts = parts
  }

  value(value: unknown): boolean {
    const code = this.#code[this.#nextCode++]
    switch (typeof value) {
      case 'string':
        this.texts.push(value)
        return code === CODES.string || (code === CODES.part && this.#parts[this.#nextPart++] === value)
      case 'number':
        this.texts.push(String(value))
        return code === CODES.number && Number.isFinite(value) && !Object.is(value, -0)
      case 'boolean':
        return code === (value ? CODES.true : CODES.false)
      case 'object':
        if (value === null) return code === CODES.null
        if (code === CODES.part) return isEqual(this.#parts[this.#nextPart++], value)
        return Array.isArray(value) ? this.#array(code, value) : this.#object(code, value)
      default:
        return false
    }
  }

  #array(code: string | undefined, array: readonly unknown[]): boolean {
    if (array.length === 0) return code === CODES.emptyArray
    if (code !== CODES.array) return false
    for (let index = 0; index < array.length; index++) if (!this.value(array[index])) return false
    return this.#code[this.#nextCode++] === CODES.arrayEnd
  }

  #object(code: string | undefined, object: object): boolean {
    if (Object.getPrototypeOf(object) !== Object.prototype) return false
    const fields = object as Readonly<Record<string, unknown>>
    let count = 0
    if (code === CODES.object) {
      const keys = this.#parts[this.#nextPart++] as readonly string[] // after this code
      for (const key in fields) if (key !== keys[count++] || !this.value(fields[key])) return false
      return count === keys.length
    }
    if (code === CODES.emptyObject) {
      for (const _ in fields) return false
      return true
    }
    if (code !== CODES.keyedObject) return false
    for (const key in fields) {
      if (key === '__proto__') return false
      this.texts.push(key)
      if (!this.value(fields[key])) return false
    }
    return this.#code[this.#nextCode++] === CODES.keyedObjectEnd
  }
}
