/** What is wrong with a label selector, by the rules of Kubernetes. */

/** A selector as a user may write it. */
export interface WrittenSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const MAX_LENGTH = 63
const MAX_PREFIX_LENGTH = 253

/** Every requirement is evaluated for every namespace, whenever one of them changes. */
const MAX_REQUIREMENTS = 1_000
const MAX_VALUES = 10_000

/** A sentence about a selector that is too large to be evaluated, or `undefined`. */
export function selectorExcess(selector: WrittenSelector, field: string): string | undefined {
  const expressions = selector.matchExpressions ?? []
  const requirements = Object.keys(selector.matchLabels ?? {}).length + expressions.length
  if (requirements > MAX_REQUIREMENTS) {
    return `${field}: has ${requirements} requirements; at most ${MAX_REQUIREMENTS} are allowed: label the namespaces that are meant`
  }
  const values = expressions.reduce((sum, { values }) => sum + (values?.length ?? 0), 0)
  if (values <= MAX_VALUES) return undefined
  return `${field}: has ${values} values; at most ${MAX_VALUES} are allowed: label the namespaces that are meant`
}

/** One sentence per problem, each beginning with the field. A selector that is too large has no other problem. */
export function selectorProblems(selector: WrittenSelector, field: string): readonly string[] {
  const excess = selectorExcess(selector, field)
  if (excess !== undefined) return [excess]
  const labels = Object.entries(selector.matchLabels ?? {}).flatMap(([key, value]) => [
    ...keyProblems(key, `${field}.matchLabels`),
    ...valueProblems(value, `${field}.matchLabels[${key}]`),
  ])
  const expressions = (selector.matchExpressions ?? []).flatMap(({ key, operator, values = [] }, index) => {
    const at = `${field}.matchExpressions[${index}]`
    return [
      ...keyProblems(key, `${at}.key`),
      ...operatorProblems(operator, values.length, at),
      ...values.flatMap((value, position) => valueProblems(value, `${at}.values[${position}]`)),
    ]
  })
  return [...labels, ...expressions]
}

function keyProblems(key: string, field: string): readonly string[] {
  const parts = key.split('/')
  const name = parts.at(-1) ?? ''
  const prefix = parts.length > 1 ? parts[0] : undefined
  const isPrefixFit = prefix === undefined || (prefix.length <= MAX_PREFIX_LENGTH && PREFIX.test(prefix))
  return parts.length <= 2 && isPrefixFit && name.length <= MAX_LENGTH && NAME.test(name)
    ? []
    : [`${field}: "${key}" is not a valid label; write [domain/]name of letters, digits, "-", "_" and "."`]
}

function valueProblems(value: string, field: string): readonly string[] {
  return value === '' || (value.length <= MAX_LENGTH && NAME.test(value))
    ? []
    : [`${field}: "${value}" is not a valid label value; use up to ${MAX_LENGTH} letters, digits, "-", "_" and "."`]
}

function operatorProblems(operator: string, count: number, at: string): readonly string[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? [] : [`${at}.values: ${operator} needs at least one value`]
    case 'Exists':
    case 'DoesNotExist':
      return count === 0 ? [] : [`${at}.values: ${operator} takes no values`]
    default:
      return [`${at}.operator: "${operator}" is unknown; choose from In, NotIn, Exists, DoesNotExist`]
  }
}
