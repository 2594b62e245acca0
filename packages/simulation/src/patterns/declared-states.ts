/** Walks through declared states: how a state was reached must not show in what the operator makes of it. */
import type { StructuralSchema } from '@reeve/crd'
import fc from 'fast-check'
import { storedSchema } from '../crd-manifests.ts'
import type { PlainObject } from '../operator-under-test.ts'
import { type ChangedValue, changedValues, removablePaths, without } from '../schema/changed-values.ts'
import { showsSomewhere } from './field-visibility.ts'
import { optionalSteps } from './optional-steps.ts'
import type { Pattern, PatternContext, Point, PointOutcome } from './pattern.ts'
import { reduced, smallest } from './reduced-walk.ts'
import { StateWalker } from './state-walker.ts'
import { accepted, fieldName, isInert, type Parts, specsOf, valueAt } from './walk-parts.ts'

/** States of one random walk. */
const WALK_LENGTH = 3

/** Removes every optional part and changes every value of a full state, comes back from errors, and walks at random. */
export const declaredStates: Pattern = {
  name: 'declared-states',
  title: 'another way to the same state',
  coverage: 'sampled',
  isFaultless: true,
  async points(context) {
    const schema = specSchema(context)
    if (schema === undefined || context.operator.walksStates === false) return []
    const { seed, samples, operator } = context
    const walker = new StateWalker(context)
    const parts = { context, walker, schema }
    const examples = operator.exampleSpecs ?? [fullest(fc.sample(specsOf(parts), { seed, numRuns: 2 * samples }))]
    return [
      ...examples.flatMap((full) => [...singleSteps(parts, full), ...sequences(parts, full)]),
      ...optionalSteps(parts, examples),
      ...waysBack(parts, examples),
      ...Array.from({ length: Math.ceil(samples / 2) }, (_, walk) => randomWalk(parts, walk)),
    ]
  },
}

function fullest(specs: readonly PlainObject[]): PlainObject {
  const lengthOf = (spec: PlainObject) => JSON.stringify(spec).length
  return specs.reduce((full, spec) => (lengthOf(spec) > lengthOf(full) ? spec : full), {})
}

function specSchema({ operator }: PatternContext): StructuralSchema | undefined {
  const [crd] = operator.crds
  return crd && storedSchema(crd).properties?.spec
}

/** One part of a full state is removed or changed: that has to show somewhere. */
function singleSteps(parts: Parts, full: PlainObject): readonly Point[] {
  const { walker, schema, context } = parts
  const { complete = (spec: PlainObject) => spec } = context.operator
  const point = (what: string, { path, value }: ChangedValue, next: PlainObject): Point => {
    const field = fieldName(path)
    // An empty map or list says no more than none.
    const isVisible = !isInert(context, field) && !isEmpty(valueAt(full, path))
    return {
      label: `${field} is ${what}`,
      shape: { coarse: what, fine: field },
      run: () =>
        reduced(parts, [full, next], async (states) => {
          const outcome = await walker.walk(states, isVisible ? field : undefined)
          // A smaller walk shows the same field, which was looked for before.
          const isUnseen = states[0] === full && outcome.problems[0]?.kind === 'invisible-field'
          const isShown = isUnseen && (await showsSomewhere(parts, { full, path, next: value as PlainObject }))
          return isShown ? { ...outcome, problems: [], trace: [] } : outcome
        }),
    }
  }
  const removals = removablePaths(schema, full).map((path) => {
    const value = without(full, path) as PlainObject
    return { path, value, what: 'removed', next: value }
  })
  const changes = changedValues(schema, full, context.seed).map(({ path, value }) => {
    const next = value as PlainObject
    return { path, value, what: 'changed', next: accepted(parts, next) ? next : complete(next) }
  })
  return [...removals, ...changes]
    .filter(({ next }) => accepted(parts, next))
    .map(({ what, next, ...step }) => point(what, step, next))
}

/** Every optional part is removed, one after the other, and added again. */
function sequences(parts: Parts, full: PlainObject): readonly Point[] {
  const states = [full]
  for (let state = full; ; states.push(state)) {
    const next = removablePaths(parts.schema, state)
      .toReversed()
      .map((path) => without(state, path) as PlainObject)
      .find((candidate) => accepted(parts, candidate))
    if (next === undefined) break
    state = next
  }
  const point = (label: string, walk: readonly PlainObject[]): Point => ({
    label,
    shape: { coarse: 'everything optional', fine: label },
    run: () => reduced(parts, walk, (shorter) => parts.walker.walk(shorter)),
  })
  return [
    point(`everything optional is removed in ${states.length - 1} steps`, states),
    point(`everything optional is added in ${states.length - 1} steps`, states.toReversed()),
    {
      label: 'all fields are in the opposite order',
      shape: { coarse: 'order of fields', fine: '' },
      run: () => parts.walker.walkInOtherOrder(full),
    },
  ]
}

/** From each state that cannot be applied to each that can. */
function waysBack(parts: Parts, examples: readonly PlainObject[]): readonly Point[] {
  return (parts.context.operator.errorSpecs ?? []).flatMap((error) =>
    examples.flatMap((good) =>
      [
        [error, good],
        [good, error, good],
      ].map((states, index) => ({
        label: `from the error ${JSON.stringify(error)} ${index === 0 ? 'to a good state' : 'back to a good state'}`,
        shape: { coarse: 'error', fine: JSON.stringify(error) },
        run: () => reduced(parts, states, (shorter) => parts.walker.walk(shorter)),
      })),
    ),
  )
}

/** Random states, shrunk by fast-check when they show a difference. */
function randomWalk(parts: Parts, walk: number): Point {
  return {
    label: `random walk ${walk} through up to ${WALK_LENGTH} states`,
    shape: { coarse: 'random walk', fine: String(walk) },
    run: async () => {
      const { maxShrinkRuns } = parts.context
      let runs = 0
      let worst: PointOutcome | undefined
      let last: PointOutcome | undefined
      const walks = fc.array(specsOf(parts), { minLength: 2, maxLength: WALK_LENGTH })
      const holds = fc.asyncProperty(walks, async (states) => {
        // Shrinking could take long; after this many runs the smallest one so far is used.
        if (runs++ > maxShrinkRuns) return true
        last = await parts.walker.walk(states)
        if (last.problems.length === 0) return true
        worst = smallest(last, states, maxShrinkRuns > 0)
        return false
      })
      await fc.check(holds, { seed: parts.context.seed * 1_000 + walk, numRuns: 1 })
      const outcome = worst ?? last
      if (outcome === undefined) throw new Error('fast-check ran nothing')
      return outcome
    },
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
