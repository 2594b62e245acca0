/** Functions of strings, and regular expressions in RE2 syntax. */
import { RE2JS } from 're2js'
import { CelError } from '../cel-error.ts'
import { scalar } from '../static-type.ts'
import { CelUint, type CelValue } from '../values.ts'
import { type CelFunction, celFunction, type FunctionTable, textFunction } from './cel-function.ts'
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
  contains: textFunction('bool', (text, part) => text.includes(part ?? '')),
  endsWith: textFunction('bool', (text, part) => text.endsWith(part ?? '')),
  find: textFunction('string', (text, pattern) => matches(text, pattern ?? '', 1)[0] ?? ''),
  findAll: {
    result: texts,
    call: ([text, pattern, limit]) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return undefined
      if (limit !== undefined && typeof limit !== 'bigint') return undefined
      return matches(text, pattern, limit === undefined || limit < 0n ? Number.POSITIVE_INFINITY : Number(limit))
    },
  },
  format: celFunction('string', ([text, values]) => {
    return typeof text === 'string' && Array.isArray(values) ? format(text, values) : undefined
  }),
  join: celFunction('string', ([list, separator = '']) => {
    if (!Array.isArray(list) || typeof separator !== 'string') return undefined
    return list.every((item) => typeof item === 'string') ? list.join(separator) : undefined
  }),
  lowerAscii: textFunction('string', (text) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())),
  matches: matchesFunction(),
  replace: celFunction('string', ([text, from, to, limit]) => {
    if (typeof text !== 'string' || typeof from !== 'string' || typeof to !== 'string') return undefined
    if (limit !== undefined && typeof limit !== 'bigint') return undefined
    return replace(text, from, to, limit === undefined || limit < 0n ? Number.POSITIVE_INFINITY : Number(limit))
  }),
  split: {
    result: texts,
    call: ([text, separator, limit]) => {
      if (typeof text !== 'string' || typeof separator !== 'string') return undefined
      if (limit !== undefined && typeof limit !== 'bigint') return undefined
      return split(text, separator, limit === undefined || limit < 0n ? Number.POSITIVE_INFINITY : Number(limit))
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
  return textFunction('bool', (text, pattern) =>
    expression(pattern ?? '')
      .matcher(text)
      .find(),
  )
}

function expression(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new CelError(error instanceof Error ? error.message : String(error))
  }
}

function matches(text: string, pattern: string, limit: number): string[] {
  const matcher = expression(pattern).matcher(text)
  const found: string[] = []
  while (found.length < limit && matcher.find()) found.push(matcher.group() ?? '')
  return found
}

function replace(text: string, from: string, to: string, limit: number): string {
  const parts = from === '' ? [...text] : text.split(from)
  let result = parts[0] ?? ''
  for (const [index, part] of parts.slice(1).entries()) result += (index < limit ? to : from) + part
  return result
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
