/** Functions of strings, and regular expressions in RE2 syntax. */
import { CelError } from '../cel-error.ts'
import { deepCost, textSearchCost } from '../cost.ts'
import { scalar } from '../static-type.ts'
import { CelUint, type CelValue } from '../values.ts'
import { type CelFunction, celFunction, type FunctionTable, textFunction, type Work } from './cel-function.ts'
import { toText } from './conversions.ts'

const texts = { kind: 'list', items: scalar('string') } as const

/** Methods of strings. */
export const textMethods: FunctionTable = {
  charAt: celFunction('string', ([text, index]) => {
    if (typeof text !== 'string' || typeof index !== 'bigint') return undefined
    const characters = [...text]
    if (index < 0n || index > BigInt(characters.length)) throw new CelError(`index out of range: ${index}`)
    return characters[Number(index)] ?? ''
  }),
  contains: celFunction('bool', ([text, part, ...rest], { budget }) => {
    if (typeof text !== 'string' || typeof part !== 'string' || rest.length > 0) return undefined
    budget.spend(textSearchCost(text, part))
    return text.includes(part)
  }),
  endsWith: textFunction('bool', (text, part) => text.endsWith(part ?? '')),
  find: celFunction('string', ([text, pattern, ...rest], { budget, patterns }) => {
    if (typeof text !== 'string' || typeof pattern !== 'string' || rest.length > 0) return undefined
    return patterns.find(text, pattern, 1, budget)[0] ?? ''
  }),
  findAll: {
    result: texts,
    call: ([text, pattern, limit], { budget, patterns }) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return undefined
      if (limit !== undefined && typeof limit !== 'bigint') return undefined
      return patterns.find(text, pattern, countOf(limit), budget)
    },
  },
  format: celFunction('string', ([text, values], { budget }) => {
    if (typeof text !== 'string' || !Array.isArray(values)) return undefined
    budget.spend(deepCost(values, budget.left))
    return format(text, values)
  }),
  join: celFunction('string', ([list, separator = ''], { budget }) => {
    if (!Array.isArray(list) || typeof separator !== 'string') return undefined
    if (!list.every((item) => typeof item === 'string')) return undefined
    const length = list.reduce((sum, item) => sum + item.length, list.length * separator.length)
    budget.spend(length / 10)
    return list.join(separator)
  }),
  lowerAscii: textFunction('string', (text) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())),
  matches: matchesFunction(),
  replace: celFunction('string', ([text, from, to, limit], { budget }) => {
    if (typeof text !== 'string' || typeof from !== 'string' || typeof to !== 'string') return undefined
    if (limit !== undefined && typeof limit !== 'bigint') return undefined
    budget.spend(textSearchCost(text, from))
    const parts = from === '' ? [...text] : text.split(from)
    const count = Math.min(parts.length - 1, countOf(limit))
    budget.spend((text.length + count * to.length) / 10)
    return replaced(parts, from, to, count)
  }),
  split: {
    result: texts,
    call: ([text, separator, limit], { budget }) => {
      if (typeof text !== 'string' || typeof separator !== 'string') return undefined
      if (limit !== undefined && typeof limit !== 'bigint') return undefined
      budget.spend(textSearchCost(text, separator))
      return split(text, separator, countOf(limit))
    },
  },
  startsWith: textFunction('bool', (text, part) => text.startsWith(part ?? '')),
  substring: celFunction('string', ([text, start, end]) => {
    if (typeof text !== 'string' || typeof start !== 'bigint') return undefined
    if (end !== undefined && typeof end !== 'bigint') return undefined
    const characters = [...text]
    const until = end ?? BigInt(characters.length)
    if (start < 0n || until > BigInt(characters.length) || start > until) {
      throw new CelError(`index out of range: ${start < 0n ? start : until}`)
    }
    return characters.slice(Number(start), Number(until)).join('')
  }),
  trim: textFunction('string', (text) => text.trim()),
  upperAscii: textFunction('string', (text) => text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())),
}

/** The same test, as a method and as a function of two arguments. */
export function matchesFunction(): CelFunction {
  return celFunction('bool', ([text, pattern, ...rest], { budget, patterns }: Work) => {
    if (typeof text !== 'string' || typeof pattern !== 'string' || rest.length > 0) return undefined
    return patterns.matches(text, pattern, budget)
  })
}

/** How many to return: all without a limit, or with a negative one. */
function countOf(limit: bigint | undefined): number {
  return limit === undefined || limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)
}

function replaced(parts: readonly string[], from: string, to: string, count: number): string {
  const [first = '', ...rest] = parts
  return first + rest.map((part, index) => (index < count ? to : from) + part).join('')
}

function split(text: string, separator: string, limit: number): string[] {
  if (limit === 0) return []
  const parts = separator === '' ? [...text] : text.split(separator)
  return parts.length <= limit ? parts : [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

/** `'%s is %d'.format([…])` */
function format(template: string, values: readonly CelValue[]): string {
  let next = 0
  return template.replaceAll(/%(?:%|(\.\d+)?([sdfebxXo]))/g, (whole, precision: string | undefined, verb: string) => {
    if (whole === '%%') return '%'
    const value = values[next++]
    if (value === undefined) throw new CelError(`index ${next - 1} out of range`)
    return formatValue(value, verb, precision === undefined ? 6 : Number(precision.slice(1)))
  })
}

function formatValue(value: CelValue, verb: string, precision: number): string {
  if (verb === 's') return printed(value)
  const number = value instanceof CelUint ? value.value : value
  if (verb === 'f' || verb === 'e') {
    if (typeof number !== 'number' && typeof number !== 'bigint') throw new CelError(`no such overload: %${verb}`)
    return verb === 'f' ? Number(number).toFixed(precision) : Number(number).toExponential(precision)
  }
  if (verb === 'x' && typeof number === 'string') return Buffer.from(number).toString('hex')
  if (verb === 'b' && typeof number === 'boolean') return number ? '1' : '0'
  if (typeof number !== 'bigint') {
    if (verb === 'd' && typeof number === 'number') return String(number)
    throw new CelError(`no such overload: %${verb}`)
  }
  const bases: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, x: 16, X: 16 }
  const digits = number.toString(bases[verb] ?? 10)
  return verb === 'X' ? digits.toUpperCase() : digits
}

function printed(value: CelValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`
  if (value instanceof Map) {
    const entries = [...value].map(([key, entry]) => `${printed(key)}: ${printed(entry)}`).sort()
    return `{${entries.join(', ')}}`
  }
  return toText(value) ?? ''
}
