/** Label selectors: matching, and an index of selectors by label. */
import type { LabelRequirement, LabelSelector, Labels } from './kinds/meta.ts'

/** Whether `labels` satisfy the selector. An empty selector matches everything, no selector matches nothing. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) if (labels[key] !== value) return false
  return (selector.matchExpressions ?? []).every((requirement) => satisfies(requirement, labels))
}

/** Whether `labels` satisfy one requirement. `Gt` and `Lt` exist for nodes only and compare integers. */
export function satisfies(requirement: LabelRequirement, labels: Labels): boolean {
  const { key, operator, values = [] } = requirement
  const value = labels[key]
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number.parseInt(value, 10) > Number.parseInt(values[0] ?? '', 10)
    case 'Lt':
      return value !== undefined && Number.parseInt(value, 10) < Number.parseInt(values[0] ?? '', 10)
    default:
      return false
  }
}

/** The index key of a label. */
export function labelValue(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`
}

/**
 * Finds which of many selectors match given labels. Each selector is indexed under one label it requires, so only those
 * that share a label with the object are evaluated: a thousand Services cost a pod nothing.
 */
export class SelectorIndex {
  readonly #filed = new Map<string, Map<string, LabelSelector>>()
  readonly #places = new Map<string, readonly string[]>()

  /** Indexes the selector of the object `namespace/name`, replacing an earlier one; `undefined` removes it. */
  set(namespace: string, key: string, selector: LabelSelector | undefined): void {
    for (const place of this.#places.get(key) ?? []) {
      const selectors = this.#filed.get(place)
      selectors?.delete(key)
      if (selectors?.size === 0) this.#filed.delete(place)
    }
    this.#places.delete(key)
    if (selector === undefined) return
    const places = placesOf(namespace, selector)
    this.#places.set(key, places)
    for (const place of places) {
      const selectors = this.#filed.get(place) ?? new Map<string, LabelSelector>()
      selectors.set(key, selector)
      this.#filed.set(place, selectors)
    }
  }

  /** Keys of the selectors in `namespace` that match. */
  matching(namespace: string, labels: Labels = {}): string[] {
    const keys: string[] = []
    const collect = (place: string) => {
      for (const [key, selector] of this.#filed.get(place) ?? []) if (selects(selector, labels)) keys.push(key)
    }
    collect(namespace)
    for (const [key, value] of Object.entries(labels)) collect(labelValue(namespace, key, value))
    return keys
  }
}

function placesOf(namespace: string, selector: LabelSelector): readonly string[] {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) return [labelValue(namespace, key, value)]
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    if (operator === 'In') return values.map((value) => labelValue(namespace, key, value))
  }
  return [namespace]
}
