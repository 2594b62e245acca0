/** Walks to states in which a field is empty, which is not the same as absent, or declared where the example has none. */
import { problem } from '../judge/problem.ts'
import type { PlainObject } from '../operator-under-test.ts'
import {
  addedValues,
  deeplyAddedValues,
  emptiedValues,
  type RemovablePath,
  replaced,
  without,
} from '../schema/changed-values.ts'
import { otherStates, possible } from './field-visibility.ts'
import type { Point } from './pattern.ts'
import { reduced } from './reduced-walk.ts'
import { accepted, fieldName, isInert, type Parts, valueAt } from './walk-parts.ts'

/** Steps to an empty field and to an added one, for every field that the schema allows beside those of the examples. */
export function optionalSteps(parts: Parts, examples: readonly PlainObject[]): readonly Point[] {
  return [
    ...onlyNewFields(examples.map((full) => emptySteps(parts, full))),
    ...onlyNewFields([
      ...examples.map((full) => addedSteps(parts, full, addedValues)),
      // Where no example has the object that a field belongs to.
      ...examples.map((full) => addedSteps(parts, full, deeplyAddedValues)),
    ]),
  ]
}

/** One part of a full state becomes empty, which is not the same as absent. */
function emptySteps(parts: Parts, full: PlainObject): readonly Point[] {
  const { walker, schema, context } = parts
  return emptiedValues(schema, full)
    .map(({ path, value }) => ({ path, next: value as PlainObject }))
    .filter(({ next }) => accepted(parts, next))
    .map(({ path, next }) => {
      const field = fieldName(path)
      const empty = valueAt(next, path)
      return {
        label: `${field} is ${JSON.stringify(empty)}`,
        shape: { coarse: `empty ${JSON.stringify(empty)}`, fine: field },
        run: async () => {
          const outcome = await reduced(parts, [full, next], (states) => walker.walkOrExplain(states))
          const isJudged = empty === 0 && outcome.problems.length === 0 && !isInert(context, field)
          const same = isJudged ? await sameAsZero(parts, { full, path }) : undefined
          if (same === undefined) return outcome
          const message = `${field}: 0 has the same effect as ${same} and as leaving it out`
          return { ...outcome, problems: [problem('invisible-field', message)] }
        },
      }
    })
}

/** A field that the example leaves out is declared, as full as the schema allows. Whether it shows is not judged. */
function addedSteps(parts: Parts, full: PlainObject, values: typeof addedValues): readonly Point[] {
  return values(parts.schema, full, parts.context.seed)
    .map(({ path, value }) => ({ field: fieldName(path), next: value as PlainObject }))
    .filter(({ next }) => accepted(parts, next))
    .map(({ field, next }) => ({
      label: `${field} is added`,
      shape: { coarse: 'added', fine: field },
      run: () => reduced(parts, [full, next], (states) => parts.walker.walkOrExplain(states)),
    }))
}

/** Several examples have most of their fields in common: each step is taken with the first example that allows it. */
function onlyNewFields(lists: readonly (readonly Point[])[]): readonly Point[] {
  return [
    ...new Map(
      lists
        .flat()
        .toReversed()
        .map((point) => [point.label, point]),
    ).values(),
  ].toReversed()
}

/** Numbers that operators like as defaults. */
const USUAL_DEFAULTS = [1, 2, 3, 5, 10, 30, 60, 100]

/**
 * A number that an operator puts in the place of zero, as it does where nothing is said. Judged in the first state in
 * which any number shows: where none does, all of them have the same effect.
 */
async function sameAsZero(
  parts: Parts,
  { full, path }: { readonly full: PlainObject; readonly path: RemovablePath },
): Promise<number | undefined> {
  for (const state of [full, ...otherStates(parts, full, path)]) {
    const [zero, absent] = [possible(parts, replaced(state, path, 0)), possible(parts, without(state, path))]
    const effect = zero && absent && (await parts.walker.effect(zero, absent))
    if (zero === undefined || effect === undefined) continue
    if (effect !== 'unseen') return undefined
    const { same, isShown } = await likeZero(parts, state, path, zero)
    if (isShown) return same
  }
  return undefined
}

/** The first of the usual numbers that has the effect of zero, and whether any has another one. */
async function likeZero(
  parts: Parts,
  state: PlainObject,
  path: RemovablePath,
  zero: PlainObject,
): Promise<{ readonly same: number | undefined; readonly isShown: boolean }> {
  let [same, isShown]: [number | undefined, boolean] = [undefined, false]
  for (const number of USUAL_DEFAULTS) {
    const other = possible(parts, replaced(state, path, number))
    const effect = other && (await parts.walker.effect(zero, other))
    if (effect === 'shown') isShown = true
    if (effect === 'unseen') same ??= number
    if (isShown && same !== undefined) break
  }
  return { same, isShown }
}
