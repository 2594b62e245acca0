/** Says in which fields two snapshots differ. */
import { isDeepStrictEqual } from 'node:util'
import type { Snapshot } from './snapshot.ts'

/** One field, or one whole object, that differs. */
export interface Difference {
  /** `deployments.apps default/shop`. */
  readonly object: string
  /** Such as `spec.replicas`; empty when the object exists in one of the two only. */
  readonly field: string
  /** In the undisturbed run; `undefined` when absent. */
  readonly expected: unknown
  readonly actual: unknown
}

/** More than these tell nothing new. */
const MAX_DIFFERENCES = 50

/**
 * Lists what differs, object by object.
 *
 * @example
 * differences(undisturbed, disturbed).map(formatDifference)
 */
export function differences(expected: Snapshot, actual: Snapshot): readonly Difference[] {
  const found: Difference[] = []
  for (const object of [...new Set([...expected.keys(), ...actual.keys()])].sort()) {
    const one = expected.get(object)
    const other = actual.get(object)
    if (one === undefined || other === undefined) {
      found.push({ object, field: '', expected: one && 'exists', actual: other && 'exists' })
    } else compare(object, '', one, other, found)
  }
  return found.slice(0, MAX_DIFFERENCES)
}

/** `deployments.apps default/shop spec.replicas: 3 instead of 2`. */
export function formatDifference({ object, field, expected, actual }: Difference): string {
  if (field === '') return actual === undefined ? `${object} is missing` : `${object} exists and should not`
  const shown = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value))
  return `${object} ${field}: ${shown(actual)} instead of ${shown(expected)}`
}

function compare(object: string, field: string, expected: unknown, actual: unknown, found: Difference[]): void {
  if (isDeepStrictEqual(expected, actual)) return
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
    found.push({ object, field, expected, actual })
    return
  }
  for (const name of [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort()) {
    const path = Array.isArray(expected) ? `${field}[${name}]` : field === '' ? name : `${field}.${name}`
    compare(object, path, expected[name], actual[name], found)
  }
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
