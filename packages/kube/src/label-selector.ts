/** Formats structured selectors for a query, and evaluates them. */
import type { LabelSelector, LabelSelectorRequirement } from './kinds/label-selector.ts'

type Labels = Readonly<Record<string, string>>

/**
 * The text form of a label selector. An empty selector is the empty string, which matches everything.
 *
 * @example
 * formatLabelSelector({ matchLabels: { app: 'web' }, matchExpressions: [{ key: 'canary', operator: 'DoesNotExist' }] })
 * // 'app=web,!canary'
 */
export function formatLabelSelector(selector: LabelSelector): string {
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  return [...labels, ...(selector.matchExpressions ?? []).map(formatRequirement)].join(',')
}

/**
 * The text form of a field selector; values are escaped.
 *
 * @example
 * formatFieldSelector({ 'metadata.name': 'web' }) // 'metadata.name=web'
 */
export function formatFieldSelector(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([path, value]) => `${path}=${value.replace(/[\\,=]/g, (character) => `\\${character}`)}`)
    .join(',')
}

/**
 * Whether `labels` match the selector, by the rules of the server: `NotIn` matches when the label is absent.
 *
 * @example
 * matchesLabels({ matchLabels: { app: 'web' } }, pod.metadata.labels)
 */
export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  // Called for every namespace and selector: no allocation grows with the labels.
  const wanted = selector.matchLabels ?? {}
  const hasAll = Object.keys(wanted).every((key) => labelOf(labels, key) === wanted[key])
  return hasAll && (selector.matchExpressions ?? []).every((requirement) => matchesRequirement(requirement, labels))
}

/** A label may be called `constructor`. */
function labelOf(labels: Labels | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
}

function formatRequirement({ key, operator, values = [] }: LabelSelectorRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`
    case 'NotIn':
      return `${key} notin (${values.join(',')})`
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
  }
}

function matchesRequirement(
  { key, operator, values = [] }: LabelSelectorRequirement,
  labels: Labels | undefined,
): boolean {
  const value = labelOf(labels, key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
  }
}
