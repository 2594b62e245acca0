/** Says in which fields two values, or two snapshots, differ. */
import type { PlainObject } from '../operator-under-test.ts'
import type { Snapshot } from './snapshot.ts'
import { areAlikeTimes } from './time-scale.ts'

/** One field that differs. */
export interface FieldChange {
  /** Such as `spec.replicas` or `spec.ports[0].port`. */
  readonly field: string
  /** `undefined` when absent. */
  readonly before: unknown
  readonly after: unknown
}

/** One field, or one whole object, that is not the same in two runs. One of the two runs is wrong. */
export interface Difference {
  /** `deployments.apps default/shop`. */
  readonly object: string
  /** Such as `spec.replicas`; empty when the object exists in one of the two only. */
  readonly field: string
  /** `undefined` when absent. */
  readonly undisturbed: unknown
  readonly disturbed: unknown
}

/** An object that differs, in both runs. `undefined` where it does not exist. */
export interface EndState {
  readonly object: string
  readonly undisturbed: PlainObject | undefined
  readonly disturbed: PlainObject | undefined
}

/** Objects of which both states are kept. */
const MAX_END_STATES = 10

/** Both states of the objects that differ. */
export function endStates(
  undisturbed: Snapshot,
  disturbed: Snapshot,
  found: readonly Difference[],
): readonly EndState[] {
  const objects = [...new Set(found.map(({ object }) => object))].slice(0, MAX_END_STATES)
  return objects.map((object) => ({
    object,
    undisturbed: undisturbed.get(object),
    disturbed: disturbed.get(object),
  }))
}

const EXISTS = 'exists'

/** Finalizers are the usual reason why something still exists. */
function existence({ metadata }: PlainObject): string {
  const { finalizers = [] } = (metadata ?? {}) as { readonly finalizers?: readonly string[] }
  return finalizers.length === 0 ? EXISTS : `${EXISTS}, with the finalizers ${finalizers.join(', ')}`
}

/** More than these add no information. */
const MAX_DIFFERENCES = 50

/**
 * Lists what differs, object by object.
 *
 * @example
 * differences(undisturbed, disturbed).map(formatDifference)
 */
export function differences(undisturbed: Snapshot, disturbed: Snapshot): readonly Difference[] {
  const found: Difference[] = []
  for (const object of [...new Set([...undisturbed.keys(), ...disturbed.keys()])].sort()) {
    if (found.length >= MAX_DIFFERENCES) break
    const one = undisturbed.get(object)
    const other = disturbed.get(object)
    if (one === undefined || other === undefined) {
      found.push({ object, field: '', undisturbed: one && existence(one), disturbed: other && existence(other) })
      continue
    }
    for (const { field, before, after } of changedFields(one, other))
      found.push({ object, field, undisturbed: before, disturbed: after })
  }
  return found.slice(0, MAX_DIFFERENCES)
}

/**
 * The fields in which two values differ, as deep as both have the same structure.
 *
 * @example
 * changedFields({ spec: { replicas: 1 } }, { spec: { replicas: 2 } }) // [{ field: 'spec.replicas', before: 1, after: 2 }]
 */
export function changedFields(before: unknown, after: unknown): readonly FieldChange[] {
  const found: FieldChange[] = []
  compare('', before, after, found)
  return found
}

/**
 * The same for two states of one object: a map of labels that was added or removed is one change for each label.
 */
export function changedEntries(before: unknown, after: unknown): readonly FieldChange[] {
  return changedFields(before, after).flatMap((change) => {
    if (!isMap(change.before ?? {}) || !isMap(change.after ?? {})) return [change]
    const inner = changedEntries(change.before ?? {}, change.after ?? {})
    return inner.map((entry) => ({ ...entry, field: `${change.field}.${entry.field}` }))
  })
}

/** `deployments.apps default/shop spec.replicas: 2 undisturbed, 3 disturbed`. */
export function formatDifference({ object, field, undisturbed, disturbed }: Difference): string {
  if (field === '') {
    const where = disturbed === undefined ? 'undisturbed' : 'disturbed'
    return `${object}: exists only in the ${where} run${String(disturbed ?? undisturbed).slice(EXISTS.length)}`
  }
  const shown = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value))
  return `${object} ${field}: ${shown(undisturbed)} undisturbed, ${shown(disturbed)} disturbed`
}

function compare(field: string, before: unknown, after: unknown, found: FieldChange[]): void {
  if (isSameValue(before, after)) return
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    found.push({ field, before, after })
    return
  }
  for (const name of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const path = Array.isArray(before) ? `${field}[${name}]` : field === '' ? name : `${field}.${name}`
    compare(path, before[name], after[name], found)
  }
}

function isMap(value: unknown): boolean {
  return isContainer(value) && !Array.isArray(value)
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Deep equality, except for times to come, which may differ by as much as one run is slower than the other. */
function isSameValue(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one === 'string' && typeof other === 'string') return areAlikeTimes(one, other)
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [first, second] = [one as Record<string, unknown>, other as Record<string, unknown>]
  const names = Object.keys(first)
  if (names.length !== Object.keys(second).length) return false
  return names.every((name) => Object.hasOwn(second, name) && isSameValue(first[name], second[name]))
}
