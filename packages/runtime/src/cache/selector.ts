/** Label and field selectors, evaluated here to know whether an own write belongs in a selective cache. */
import type { KubeObject } from '@reeve/kube'

/** A compiled selector. */
export type Matcher = (object: KubeObject) => boolean

type Labels = Readonly<Record<string, string>>
type Requirement = (labels: Labels) => boolean

const SET_REQUIREMENT = /^(?<key>\S+)\s+(?<operator>in|notin)\s*\((?<values>[^)]*)\)$/
// Spaces after the key belong to it until it is trimmed: matching them separately would take quadratic time.
const EQUALITY_REQUIREMENT = /^(?<key>[^=!]+)(?<operator>==|=|!=)\s*(?<value>.*)$/

/**
 * Compiles a label selector in the API's syntax: `app=web,tier!=db,env in (dev, test),!legacy,owner`.
 *
 * @example
 * const isWeb = labelMatcher('app=web')
 */
export function labelMatcher(selector: string): Matcher {
  const requirements = splitRequirements(selector).map(parseLabelRequirement)
  return (object) => {
    const labels = object.metadata.labels ?? {}
    return requirements.every((holds) => holds(labels))
  }
}

/**
 * Compiles a field selector: `metadata.name=web,status.phase!=Running`. A field that is absent counts as empty, as it
 * does on the server.
 *
 * @example
 * const isOnNode = fieldMatcher('spec.nodeName=node-1')
 */
export function fieldMatcher(selector: string): Matcher {
  // Commas, equals signs and backslashes of a value are escaped by a backslash.
  const parts = selector.split(/(?<!\\),/).filter((part) => part.trim() !== '')
  const requirements = parts.map((text) => {
    const { key = text, operator = '!=', value = '' } = EQUALITY_REQUIREMENT.exec(text)?.groups ?? {}
    const path = key.trim().split('.')
    return { path, value: value.replace(/\\(.)/g, '$1'), isNegated: operator === '!=' }
  })
  return (object) =>
    requirements.every(({ path, value, isNegated }) => (readField(object, path) === value) !== isNegated)
}

function parseLabelRequirement(text: string): Requirement {
  const set = SET_REQUIREMENT.exec(text)?.groups
  if (set !== undefined) {
    const { key = '', operator, values = '' } = set
    const wanted = new Set(values.split(',').map((value) => value.trim()))
    return operator === 'in'
      ? (labels) => has(labels, key) && wanted.has(labels[key] ?? '')
      : (labels) => !has(labels, key) || !wanted.has(labels[key] ?? '')
  }
  const equality = EQUALITY_REQUIREMENT.exec(text)?.groups
  if (equality !== undefined && !text.startsWith('!')) {
    const { operator, value = '' } = equality
    const key = (equality.key ?? '').trim()
    return operator === '!='
      ? (labels) => !has(labels, key) || labels[key] !== value
      : (labels) => has(labels, key) && labels[key] === value
  }
  if (text.startsWith('!')) {
    const key = text.slice(1).trim()
    return (labels) => !has(labels, key)
  }
  return (labels) => has(labels, text)
}

function has(labels: Labels, key: string): boolean {
  return Object.hasOwn(labels, key)
}

/** Splits at commas outside parentheses. */
function splitRequirements(selector: string): string[] {
  const parts = selector.match(/(?:\([^)]*\)?|[^,(])+/g) ?? []
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function readField(object: KubeObject, path: readonly string[]): string {
  let value: unknown = object
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return ''
    value = (value as Readonly<Record<string, unknown>>)[step] // checked: an object with this very property
  }
  return value === undefined || value === null ? '' : String(value)
}
