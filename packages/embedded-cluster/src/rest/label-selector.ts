/** Label selectors, as a query string writes them. */
import type { JsonObject } from '../json.ts'
import { badRequest } from './api-errors.ts'

/** Whether an object with these labels is selected. */
export type LabelMatcher = (labels: Readonly<Record<string, unknown>>) => boolean

interface Requirement {
  readonly key: string
  readonly operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<'
  readonly values: readonly string[]
}

/**
 * Parses `app=web,tier in (a,b),!legacy`. Throws a 400 that quotes what cannot be read.
 *
 * @example
 * parseLabelSelector('app=web')({ app: 'web' }) // true
 */
export function parseLabelSelector(selector: string): LabelMatcher {
  const requirements = splitRequirements(selector).map((text) => parseRequirement(text, selector))
  return (labels) => requirements.every((requirement) => satisfies(labels, requirement))
}

/** The matcher of a `LabelSelector` object: matchLabels and matchExpressions. */
export function matchLabelSelector(selector: JsonObject): LabelMatcher {
  const requirements: Requirement[] = []
  const labels = selector.matchLabels
  if (typeof labels === 'object' && labels !== null && !Array.isArray(labels)) {
    for (const [key, value] of Object.entries(labels)) {
      requirements.push({ key, operator: '=', values: [String(value)] })
    }
  }
  const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const
  for (const expression of Array.isArray(selector.matchExpressions) ? selector.matchExpressions : []) {
    if (typeof expression !== 'object' || expression === null || Array.isArray(expression)) continue
    const operator = operators[String(expression.operator) as keyof typeof operators]
    if (operator === undefined) return () => false
    const values = Array.isArray(expression.values) ? expression.values.map(String) : []
    requirements.push({ key: String(expression.key), operator, values })
  }
  return (candidate) => requirements.every((requirement) => satisfies(candidate, requirement))
}

/** The query-string form of a `LabelSelector` object, as a Scale's status carries it. */
export function formatLabelSelector(selector: JsonObject | undefined): string {
  const parts: string[] = []
  const labels = selector?.matchLabels
  if (typeof labels === 'object' && labels !== null && !Array.isArray(labels)) {
    for (const [key, value] of Object.entries(labels)) parts.push(`${key}=${String(value)}`)
  }
  for (const expression of Array.isArray(selector?.matchExpressions) ? selector.matchExpressions : []) {
    if (typeof expression !== 'object' || expression === null || Array.isArray(expression)) continue
    const key = String(expression.key)
    const values = Array.isArray(expression.values) ? [...expression.values].map(String).sort().join(',') : ''
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
      return isPresent && /^-?\d+$/.test(value) && Number(value) > Number(values[0])
    case '<':
      return isPresent && /^-?\d+$/.test(value) && Number(value) < Number(values[0])
  }
}

/** Splits at commas that are not inside parentheses. */
function splitRequirements(selector: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index < selector.length; index += 1) {
    const character = selector[index]
    if (character === '(') depth += 1
    else if (character === ')') depth -= 1
    else if (character === ',' && depth === 0) {
      parts.push(selector.slice(start, index))
      start = index + 1
    }
  }
  parts.push(selector.slice(start))
  return selector.trim() === '' ? [] : parts
}

const keyPattern = '(?:[a-zA-Z0-9](?:[-a-zA-Z0-9.]*[a-zA-Z0-9])?/)?[a-zA-Z0-9](?:[-a-zA-Z0-9_.]*[a-zA-Z0-9])?'
const setPattern = new RegExp(`^(${keyPattern})\\s+(in|notin)\\s*\\(([^()]*)\\)$`)
const equalityPattern = new RegExp(`^(${keyPattern})\\s*(==|=|!=|>|<)\\s*([a-zA-Z0-9_.-]*)$`)
const existencePattern = new RegExp(`^(!?)\\s*(${keyPattern})$`)
const valuePattern = /^(?:[a-zA-Z0-9](?:[-a-zA-Z0-9_.]*[a-zA-Z0-9])?)?$/

function parseRequirement(text: string, selector: string): Requirement {
  const trimmed = text.trim()
  const unreadable = () =>
    badRequest(`unable to parse requirement: ${JSON.stringify(trimmed)} in selector "${selector}"`)
  const set = setPattern.exec(trimmed)
  if (set !== null) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim())
    if (!values.every((value) => valuePattern.test(value))) throw unreadable()
    return { key: set[1] ?? '', operator: set[2] === 'in' ? 'in' : 'notin', values }
  }
  const equality = equalityPattern.exec(trimmed)
  if (equality !== null) {
    const [, key = '', sign, value = ''] = equality
    const isOrder = sign === '>' || sign === '<'
    if (isOrder ? !/^-?\d+$/.test(value) : !valuePattern.test(value)) throw unreadable()
    return { key, operator: sign === '==' ? '=' : (sign as '=' | '!=' | '>' | '<'), values: [value] }
  }
  const existence = existencePattern.exec(trimmed)
  if (existence === null) throw unreadable()
  return { key: existence[2] ?? '', operator: existence[1] === '!' ? '!' : 'exists', values: [] }
}
