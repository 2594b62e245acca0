/** JSONPath as printer columns, scale paths and selectable fields use it. */
import { isJsonObject, type JsonValue, jsonEqual } from '../json.ts'
import { ownField } from './json-value.ts'

/** Thrown when an expression is not one; the message says where. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
  readonly code = 'INVALID_JSON_PATH'
}

/** Filters in filters; each takes a part of the stack. */
const MAX_FILTER_DEPTH = 16

/** All values one step leads to; none where the value has no such part. */
type Step = (value: JsonValue) => readonly JsonValue[]

/**
 * Compiles an expression such as `.status.conditions[?(@.type=="Ready")].status`: fields (with `\.` for a dot in a
 * name, or quoted in brackets), indices, slices, `*`, `..` and filters that compare with a literal or test existence.
 *
 * *Guarantees*: evaluation never throws; what is missing yields nothing.
 *
 * *Errors*: JsonPathError when the expression cannot be read.
 *
 * @example
 * compileJsonPath('.spec.replicas')({ spec: { replicas: 3 } }) // [3]
 */
export function compileJsonPath(expression: string): (root: JsonValue) => JsonValue[] {
  const trimmed = expression.trim()
  const body = trimmed.startsWith('{') && trimmed.endsWith('}') ? trimmed.slice(1, -1).trim() : trimmed
  const steps = new Parser(body).steps()
  return (root) => evaluate(steps, root)
}

function evaluate(steps: readonly Step[], root: JsonValue): JsonValue[] {
  let values: readonly JsonValue[] = [root]
  for (const step of steps) values = values.flatMap((value) => [...step(value)])
  return [...values]
}

function field(name: string): Step {
  return (value) => {
    const found = isJsonObject(value) ? ownField(value, name) : undefined
    return found === undefined ? [] : [found]
  }
}

function children(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value).filter((child) => child !== undefined) : []
}

function descendants(value: JsonValue): readonly JsonValue[] {
  return [value, ...children(value).flatMap(descendants)]
}

function slice(start: number | undefined, end: number | undefined, stride: number): Step {
  return (value) => {
    if (!Array.isArray(value)) return []
    return value.slice(start, end).filter((_, index) => index % stride === 0)
  }
}

function index(position: number): Step {
  return (value) => {
    const item = Array.isArray(value) ? value.at(position) : undefined
    return item === undefined ? [] : [item]
  }
}

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

function filter(left: readonly Step[], comparison: Comparison | undefined, right: JsonValue): Step {
  return (value) => {
    const candidates = children(value)
    return candidates.filter((candidate) => {
      const found = evaluate(left, candidate)
      return comparison === undefined ? found.length > 0 : found.some((actual) => compares(actual, comparison, right))
    })
  }
}

function compares(left: JsonValue, comparison: Comparison, right: JsonValue): boolean {
  if (comparison === '==') return jsonEqual(left, right)
  if (comparison === '!=') return !jsonEqual(left, right)
  if (typeof left !== typeof right || (typeof left !== 'number' && typeof left !== 'string')) return false
  // Both sides are of the same type, and that type has an order.
  const [a, b] = [left, right] as [number, number]
  if (comparison === '<') return a < b
  if (comparison === '<=') return a <= b
  return comparison === '>' ? a > b : a >= b
}

class Parser {
  readonly #text: string
  #position = 0
  #filterDepth = 0

  constructor(text: string) {
    this.#text = text
  }

  steps(): Step[] {
    const steps = this.#path()
    if (this.#position < this.#text.length) throw this.#error('unexpected text')
    return steps
  }

  #path(): Step[] {
    const steps: Step[] = []
    if (this.#peek() === '$' || this.#peek() === '@') this.#position++
    for (;;) {
      if (this.#take('..')) {
        steps.push(descendants)
        if (this.#peek() !== '[') steps.push(this.#name())
      } else if (this.#take('.')) {
        // A lone dot is the root itself, and `.[0]` is the same as `[0]`.
        if (this.#position < this.#text.length && this.#peek() !== '[') steps.push(this.#name())
      } else if (this.#peek() === '[') {
        steps.push(this.#bracket())
      } else {
        return steps
      }
    }
  }

  #name(): Step {
    if (this.#take('*')) return children
    let name = ''
    for (; this.#position < this.#text.length; this.#position++) {
      const char = this.#peek()
      if (char === '\\' && this.#position + 1 < this.#text.length) {
        this.#position++
        name += this.#peek()
      } else if (/[.[\]()=!<>&|\s]/.test(char)) {
        break
      } else {
        name += char
      }
    }
    if (name === '') throw this.#error('a field name is missing')
    return field(name)
  }

  #bracket(): Step {
    this.#position++
    this.#skipSpace()
    if (this.#take('?(')) return this.#filter()
    const steps = [this.#selector()]
    while (this.#take(',')) steps.push(this.#selector())
    if (!this.#take(']')) throw this.#error('] is missing')
    return (value) => steps.flatMap((step) => [...step(value)])
  }

  #selector(): Step {
    this.#skipSpace()
    if (this.#take('*')) return this.#end(children)
    const quote = this.#peek()
    if (quote === "'" || quote === '"') return this.#end(field(this.#quoted()))
    const match = /^(-?\d+)?(:)?(-?\d+)?(?::(\d+))?/.exec(this.#text.slice(this.#position))
    if (match === null || match[0] === '') throw this.#error('an index, a name or * is missing')
    this.#position += match[0].length
    const [, from, colon, to, stride] = match
    if (colon === undefined) return this.#end(index(Number(from)))
    const bound = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))
    return this.#end(slice(bound(from), bound(to), Math.max(1, Number(stride ?? 1))))
  }

  #end(step: Step): Step {
    this.#skipSpace()
    return step
  }

  #filter(): Step {
    this.#skipSpace()
    if (this.#peek() !== '@') throw this.#error('a filter starts with @')
    this.#filterDepth += 1
    if (this.#filterDepth > MAX_FILTER_DEPTH) throw this.#error('filters are nested too deep')
    const left = this.#path()
    this.#filterDepth -= 1
    this.#skipSpace()
    const comparison = (['==', '!=', '<=', '>=', '<', '>'] as const).find((operator) => this.#take(operator))
    this.#skipSpace()
    const right = comparison === undefined ? null : this.#literal()
    this.#skipSpace()
    if (!this.#take(')]')) throw this.#error(')] is missing')
    return filter(left, comparison, right)
  }

  #literal(): JsonValue {
    const char = this.#peek()
    if (char === "'" || char === '"') return this.#quoted()
    const match = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?)/.exec(this.#text.slice(this.#position))
    if (match === null) throw this.#error('a literal is missing')
    this.#position += match[0].length
    return JSON.parse(match[0])
  }

  #quoted(): string {
    const quote = this.#peek()
    let text = ''
    for (this.#position++; this.#position < this.#text.length; this.#position++) {
      const char = this.#peek()
      if (char === quote) {
        this.#position++
        return text
      }
      if (char === '\\') this.#position++
      text += this.#peek()
    }
    throw this.#error('the quote is not closed')
  }

  #peek(): string {
    return this.#text.charAt(this.#position)
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#position)) return false
    this.#position += token.length
    return true
  }

  #skipSpace(): void {
    while (this.#peek() === ' ') this.#position++
  }

  #error(reason: string): JsonPathError {
    return new JsonPathError(`JSONPath ${JSON.stringify(this.#text)}: ${reason} at position ${this.#position}`)
  }
}
