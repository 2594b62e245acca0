/** Walks to states in which a field is empty, which is not the same as absent, or declared where the example has none. */
import { validate } from '@reeve/crd'
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
          const same = isJudged ? await sameAsZero(parts, { full, path, zero: next }) : undefined
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

/** A number that an operator puts in the place of zero, as it does where nothing is said. */
async function sameAsZero(
  parts: Parts,
  { full, path, zero }: { readonly full: PlainObject; readonly path: RemovablePath; readonly zero: PlainObject },
): Promise<number | undefined> {
  const { walker, schema } = parts
  const absent = without(full, path) as PlainObject
  const isPossible = validate(schema, absent).length === 0 && accepted(parts, absent)
  if (!isPossible || (await walker.haveSameEffect(zero, absent)) !== true) return undefined
  for (const number of USUAL_DEFAULTS) {
    const other = replaced(full, path, number) as PlainObject
    if (validate(schema, other).length > 0 || !accepted(parts, other)) continue
    if ((await walker.haveSameEffect(zero, other)) === true) return number
  }
  return undefined
}
