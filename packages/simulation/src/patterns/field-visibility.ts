/** Looks for a state in which a field shows: one that shows for some value of the others is not invisible. */
import { validate } from '@reeve/crd'
import fc from 'fast-check'
import type { PlainObject } from '../operator-under-test.ts'
import {
  addedValues,
  type ChangedValue,
  changedValues,
  emptiedValues,
  type RemovablePath,
  removablePaths,
  replaced,
  without,
} from '../schema/changed-values.ts'
import { accepted, type Parts, specsOf, valueAt } from './walk-parts.ts'

/** A field of a full state, and another state in which it is removed or changed. */
export interface FieldStep {
  readonly full: PlainObject
  readonly path: RemovablePath
  /** As generated, before it is completed. */
  readonly next: PlainObject
}

/** States in which a field is tried before it counts as invisible. */
const MAX_STATES = 80
/** The same for a process, of which each state takes up to a minute. */
const MAX_STATES_OF_PROCESS = 6
/** Of those, how many are drawn at random: several other fields may have to change at once. */
const RANDOM_SHARE = 0.5
/** Values of one field that are tried. */
const VALUES = 3

/** Whether the field shows for any value of it and of the others that is tried. */
export async function showsSomewhere(parts: Parts, step: FieldStep): Promise<boolean> {
  for (const [one, other] of pairs(parts, step)) {
    if ((await parts.walker.effect(one, other)) === 'shown') return true
  }
  return false
}

/** Two states that differ in the field. */
function* pairs(parts: Parts, { full, path, next }: FieldStep): Generator<readonly [PlainObject, PlainObject]> {
  const isRemoved = JSON.stringify(without(full, path)) === JSON.stringify(next)
  const [value, other] = [valueAt(full, path), isRemoved ? undefined : valueAt(next, path)]
  // Its value may be the one that the operator takes anyway.
  for (const changed of changedValues(parts.schema, full, parts.context.seed, VALUES)) {
    if (!isWithin(changed.path, path)) continue
    const state = possible(parts, changed.value)
    const base = possible(parts, isRemoved ? next : full)
    if (state !== undefined && base !== undefined) yield [state, base]
  }
  for (const state of otherStates(parts, full, path)) {
    const one = possible(parts, replaced(state, path, value))
    const another = possible(parts, isRemoved ? without(state, path) : replaced(state, path, other))
    if (one !== undefined && another !== undefined) yield [one, another]
  }
}

/** States with other values of the other fields: switches and choices first, those nearest to the field before all. */
export function otherStates(parts: Parts, full: PlainObject, path: RemovablePath): readonly PlainObject[] {
  const { schema, context } = parts
  const { seed, operator } = context
  const max = operator.realTime === undefined ? MAX_STATES : MAX_STATES_OF_PROCESS
  const changed = changedValues(schema, full, seed, VALUES)
  const removed = removablePaths(schema, full).map((each) => ({ path: each, value: without(full, each) }))
  const isSwitch = (each: ChangedValue) => typeof valueAt(full, each.path) === 'boolean'
  const near = [
    ...changed.filter(isSwitch),
    ...emptiedValues(schema, full),
    ...removed,
    ...changed.filter((each) => !isSwitch(each)),
    ...addedValues(schema, full, seed),
  ]
    .filter((each) => !isWithin(each.path, path) && !isWithin(path, each.path))
    .toSorted((one, other) => shared(other.path, path) - shared(one.path, path))
  const drawn = fc.sample(specsOf(parts), { seed, numRuns: Math.ceil(max * RANDOM_SHARE) })
  const [top = ''] = path
  // With what is around the field as it is, and as it was drawn.
  const random = drawn.flatMap((spec) => [{ ...spec, [top]: full[top] }, spec])
  const states = [
    ...(operator.exampleSpecs ?? []),
    ...near.slice(0, max - drawn.length).map(({ value }) => value as PlainObject),
    ...random,
  ]
  const distinct = new Map(states.map((state) => [JSON.stringify(state), state]))
  return [...distinct.values()].slice(0, max)
}

/** The state, completed if need be; `undefined` if it cannot be declared. */
export function possible(parts: Parts, state: unknown): PlainObject | undefined {
  const { complete = (spec: PlainObject) => spec } = parts.context.operator
  // The schema of a spec is that of an object.
  if (validate(parts.schema, state).length > 0) return undefined
  if (accepted(parts, state as PlainObject)) return state as PlainObject
  const completed = complete(state as PlainObject)
  return accepted(parts, completed) ? completed : undefined
}

function isWithin(path: RemovablePath, outer: RemovablePath): boolean {
  return shared(path, outer) === outer.length
}

/** How many names two paths begin with alike. */
function shared(one: RemovablePath, other: RemovablePath): number {
  const at = one.findIndex((name, index) => name !== other[index])
  return at < 0 ? one.length : at
}
