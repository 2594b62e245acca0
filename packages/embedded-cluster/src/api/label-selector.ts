/** Label selectors in query strings and in objects. */
import { arrayAt, isJsonObject, type JsonObject } from '../json.ts'
import { badRequest } from './api-errors.ts'
import { labelValueProblems, qualifiedNameProblems } from './object-meta.ts'

/** Whether an object with these labels matches. */
export type LabelMatcher = (labels: Readonly<Record<string, unknown>>) => boolean

interface Requirement {
  readonly key: string
  readonly operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<'
  readonly values: readonly string[]
}

/**
 * Parses `app=web,tier in (a,b),!legacy`. Throws a 400 with the unexpected and expected tokens.
 *
 * @example
 * parseLabelSelector('app=web')({ app: 'web' }) // true
 */
export function parseLabelSelector(selector: string): LabelMatcher {
  const requirements = new Parser(selector).requirements()
  return (labels) => requirements.every((requirement) => satisfies(labels, requirement))
}

/** The matcher of a `LabelSelector` object: matchLabels and matchExpressions. */
export function matchLabelSelector(selector: JsonObject): LabelMatcher {
  const requirements: Requirement[] = []
  if (isJsonObject(selector.matchLabels)) {
    for (const [key, value] of Object.entries(selector.matchLabels)) {
      requirements.push({ key, operator: '=', values: [String(value)] })
    }
  }
  const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const
  for (const expression of arrayAt(selector, 'matchExpressions')) {
    if (!isJsonObject(expression)) continue
    const operator = operators[String(expression.operator) as keyof typeof operators]
    if (operator === undefined) return () => false
    requirements.push({ key: String(expression.key), operator, values: arrayAt(expression, 'values').map(String) })
  }
  return (candidate) => requirements.every((requirement) => satisfies(candidate, requirement))
}

/** The query-string form of a `LabelSelector` object, as in the status of a Scale. */
export function formatLabelSelector(selector: JsonObject | undefined): string {
  const parts: string[] = []
  if (isJsonObject(selector?.matchLabels)) {
    for (const [key, value] of Object.entries(selector.matchLabels)) parts.push(`${key}=${String(value)}`)
  }
  for (const expression of arrayAt(selector, 'matchExpressions')) {
    if (!isJsonObject(expression)) continue
    const key = String(expression.key)
    const values = arrayAt(expression, 'values').map(String).sort().join(',')
    if (expression.operator === 'In') parts.push(`${key} in (${values})`)
    else if (expression.operator === 'NotIn') parts.push(`${key} notin (${values})`)
    else parts.push(expression.operator === 'Exists' ? key : `!${key}`)
  }
  return parts.sort().join(',')
}

function satisfies(labels: Readonly<Record<string, unknown>>, requirement: Requirement): boolean {
  const { key, operator, values } = requirement
  const isPresent = Object.hasOwn(labels, key)
  const value = isPresent ? String(labels[key]) : ''
  switch (operator) {
    case '=':
    case 'in':
      return isPresent && values.includes(value)
    case '!=':
    case 'notin':
      return !isPresent || !values.includes(value)
    case 'exists':
      return isPresent
    case '!':
      return !isPresent
    case '>':
      return isPresent && isInteger(value) && Number(value) > Number(values[0])
    case '<':
      return isPresent && isInteger(value) && Number(value) < Number(values[0])
  }
}

function isInteger(text: string): boolean {
  return /^-?\d+$/.test(text)
}

const tokenPattern = /\s*(==|!=|=|!|>|<|,|\(|\)|[^\s=!,()<>]+)/y
const signs = new Set(['==', '!=', '=', '!', '>', '<', ',', '(', ')'])

/** Parses requirements one by one; the messages are those of the API. */
class Parser {
  readonly #tokens: string[] = []
  #next = 0

  constructor(selector: string) {
    tokenPattern.lastIndex = 0
    for (let match = tokenPattern.exec(selector); match !== null; match = tokenPattern.exec(selector)) {
      this.#tokens.push(match[1] ?? '')
    }
  }

  requirements(): Requirement[] {
    const found: Requirement[] = []
    if (this.#peek() === '') return found
    if (!this.#startsRequirement())
      throw badRequest(`found '${this.#peek()}', expected: !, identifier, or 'end of string'`)
    for (;;) {
      found.push(this.#requirement())
      const separator = this.#take()
      if (separator === '') return found
      if (separator !== ',') throw badRequest(`found '${separator}', expected: ',' or 'end of string'`)
      if (!this.#startsRequirement()) throw badRequest(`found '${this.#peek()}', expected: identifier after ','`)
    }
  }

  #requirement(): Requirement {
    const isNegated = this.#peek() === '!'
    if (isNegated) this.#take()
    const key = this.#identifier()
    for (const why of qualifiedNameProblems(key)) {
      throw unparsable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${why}`)
    }
    if (isNegated || this.#peek() === '' || this.#peek() === ',') {
      return { key, operator: isNegated ? '!' : 'exists', values: [] }
    }
    const operator = this.#take()
    if (operator === 'in' || operator === 'notin') return this.#checked({ key, operator, values: this.#list() })
    if (!['=', '==', '!=', '>', '<'].includes(operator)) {
      throw unparsable(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`)
    }
    const isAbsent = this.#peek() === '' || this.#peek() === ','
    const value = isAbsent ? '' : this.#identifier()
    // The list above contains all operators.
    return this.#checked({
      key,
      operator: operator === '==' ? '=' : (operator as '=' | '!=' | '>' | '<'),
      values: [value],
    })
  }

  #list(): string[] {
    const open = this.#take()
    if (open !== '(') throw unparsable(`found '${open}' expected: '('`)
    const values: string[] = []
    for (;;) {
      const token = this.#peek()
      values.push(token === ',' || token === ')' ? '' : this.#take())
      const separator = this.#take()
      if (separator === ')') return values
      if (separator !== ',') throw unparsable(`found '${separator}', expected: ',' or ')'`)
    }
  }

  #checked(requirement: Requirement): Requirement {
    const { key, operator, values } = requirement
    for (const [index, value] of values.entries()) {
      const isOrder = operator === '>' || operator === '<'
      const at = `values[${index}]${isOrder ? '' : `[${key}]`}: Invalid value: ${JSON.stringify(value)}`
      if (isOrder && !isInteger(value)) {
        throw unparsable(`${at}: for 'Gt', 'Lt' operators, the value must be an integer`)
      }
      for (const why of isOrder ? [] : labelValueProblems(value)) throw unparsable(`${at}: ${why}`)
    }
    return requirement
  }

  #identifier(): string {
    const token = this.#take()
    if (token === '' || signs.has(token)) throw unparsable(`found '${token}', expected: identifier`)
    return token
  }

  #startsRequirement(): boolean {
    const token = this.#peek()
    return token === '!' || (token !== '' && !signs.has(token))
  }

  /** Empty at the end. */
  #peek(): string {
    return this.#tokens[this.#next] ?? ''
  }

  #take(): string {
    const token = this.#peek()
    this.#next += 1
    return token
  }
}

function unparsable(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`)
}
