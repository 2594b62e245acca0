/** Walks through declared states: how a state was reached must not show in what the operator makes of it. */
import { objectSchema, type StructuralSchema, validate } from '@reeve/crd'
import fc from 'fast-check'
import type { PlainObject } from '../operator-under-test.ts'
import { problem } from '../run/problem.ts'
import { arbitraryFor } from '../schema/arbitrary-for.ts'
import {
  changedValues,
  emptiedValues,
  type RemovablePath,
  removablePaths,
  replaced,
  without,
} from '../schema/changed-values.ts'
import { narrowed } from '../schema/narrowed.ts'
import type { Pattern, PatternContext, Point, PointOutcome } from './pattern.ts'
import { smallest } from './smallest-walk.ts'
import { StateWalker } from './state-walker.ts'

/** States of one random walk, and how many shorter or simpler ones are tried when it fails. */
const WALK_LENGTH = 3
const MAX_SHRINK_RUNS = 40

/** Removes every optional part and changes every value of a full state, comes back from errors, and walks at random. */
export const declaredStates: Pattern = {
  name: 'declared-states',
  title: 'another way to the same state',
  coverage: 'sampled',
  isFaultless: true,
  async points(context) {
    const schema = specSchema(context)
    if (schema === undefined || context.operator.walksStates === false) return []
    const { seed, budget, operator } = context
    const walker = new StateWalker(context)
    const parts = { context, walker, schema }
    const examples = operator.exampleSpecs ?? [fullest(fc.sample(specsOf(parts), { seed, numRuns: 2 * budget }))]
    return [
      ...examples.flatMap((full) => [
        ...singleSteps(parts, full),
        ...emptySteps(parts, full),
        ...sequences(parts, full),
      ]),
      ...waysBack(parts, examples),
      ...Array.from({ length: Math.ceil(budget / 2) }, (_, walk) => randomWalk(parts, walk)),
    ]
  },
}

function fullest(specs: readonly PlainObject[]): PlainObject {
  const lengthOf = (spec: PlainObject) => JSON.stringify(spec).length
  return specs.reduce((full, spec) => (lengthOf(spec) > lengthOf(full) ? spec : full), {})
}

interface Parts {
  readonly context: PatternContext
  readonly walker: StateWalker
  readonly schema: StructuralSchema
}

function specSchema({ operator }: PatternContext): StructuralSchema | undefined {
  const [crd] = operator.crds
  return crd && objectSchema(crd, crd.storageVersion).properties?.spec
}

function specsOf({ context: { operator }, schema }: Parts): fc.Arbitrary<PlainObject> {
  const { complete = (spec: PlainObject) => spec, accepts = () => true, walkedFields } = operator
  const walked = walkedFields === undefined ? schema : narrowed(schema, walkedFields)
  // The schema of a spec is that of an object.
  return (arbitraryFor(walked) as fc.Arbitrary<PlainObject>).map(complete).filter(accepts)
}

function accepted({ context: { operator } }: Parts, spec: PlainObject): boolean {
  return operator.accepts?.(spec) ?? true
}

/** One part of a full state is removed or changed: that has to show somewhere. */
function singleSteps(parts: Parts, full: PlainObject): readonly Point[] {
  const { walker, schema, context } = parts
  const point = (what: string, path: RemovablePath, next: PlainObject): Point => {
    const field = fieldName(path)
    // An empty map or list says no more than none.
    const isVisible = !isInert(context, field) && !isEmpty(valueAt(full, path))
    return {
      label: `${field} is ${what}`,
      shape: { coarse: what, fine: field },
      run: () => reduced(parts, [full, next], (states) => walker.walk(states, isVisible ? field : undefined)),
    }
  }
  const removals = removablePaths(schema, full).map((path) => ({
    path,
    what: 'removed',
    next: without(full, path) as PlainObject,
  }))
  const { complete = (spec: PlainObject) => spec } = context.operator
  const changes = changedValues(schema, full, context.seed).map(({ path, value }) => {
    const next = value as PlainObject
    return { path, what: 'changed', next: accepted(parts, next) ? next : complete(next) }
  })
  return [...removals, ...changes]
    .filter(({ next }) => accepted(parts, next))
    .map(({ path, what, next }) => point(what, path, next))
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

/** Everything optional goes, one part after the other, and comes back the same way. */
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
  ]
}

/** From each state that cannot be carried out to each that can. */
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
      let runs = 0
      let worst: PointOutcome | undefined
      let last: PointOutcome | undefined
      const walks = fc.array(specsOf(parts), { minLength: 2, maxLength: WALK_LENGTH })
      const holds = fc.asyncProperty(walks, async (states) => {
        // Shrinking could go on for long; after this many runs whatever is smallest by then has to do.
        if (runs++ > MAX_SHRINK_RUNS) return true
        last = await parts.walker.walk(states)
        if (last.problems.length === 0) return true
        worst = smallest(last, states)
        return false
      })
      await fc.check(holds, { seed: parts.context.seed * 1_000 + walk, numRuns: 1 })
      const outcome = worst ?? last
      if (outcome === undefined) throw new Error('fast-check ran nothing')
      return outcome
    },
  }
}

/** Runs a walk; when it fails, leaves out states and parts of states as long as it still does. */
async function reduced(
  parts: Parts,
  states: readonly PlainObject[],
  run: (states: readonly PlainObject[]) => Promise<PointOutcome>,
): Promise<PointOutcome> {
  const first = await run(states)
  if (first.problems.length === 0) return first
  let [outcome, current, runs] = [first, states, 0]
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const candidate of simpler(parts, current)) {
      if (runs++ >= MAX_SHRINK_RUNS) return smallest(outcome, current)
      const tried = await run(candidate)
      if (kindOf(tried) !== kindOf(first)) continue
      ;[outcome, current, isSmaller] = [tried, candidate, true]
      break
    }
  }
  return smallest(outcome, current)
}

/** What is wrong, without numbers: a smaller walk has to show the same, not anything. */
function kindOf({ problems }: PointOutcome): string | undefined {
  return problems[0]?.message.replace(/\d[\s\S]*/, '')
}

/** Walks with one state less, or with one part less in all of their states. */
function* simpler(parts: Parts, states: readonly PlainObject[]): Generator<readonly PlainObject[]> {
  for (const [index] of states.slice(0, -1).entries()) {
    if (states.length > 2) yield states.toSpliced(index, 1)
  }
  const [first = {}] = states
  for (const path of removablePaths(parts.schema, first)) {
    const next = states.map((state) => without(state, path) as PlainObject)
    const isDistinct = next.every((state, index) => JSON.stringify(state) !== JSON.stringify(next[index + 1]))
    if (isDistinct && next.every((state) => accepted(parts, state))) yield next
  }
}

function isInert({ operator: { inertFields = [] } }: PatternContext, field: string): boolean {
  return inertFields.some((inert) => field === inert || field.startsWith(`${inert}.`))
}

function valueAt(value: unknown, path: RemovablePath): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Readonly<Record<string | number, unknown>>)[name], value)
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function fieldName(path: RemovablePath): string {
  return ['spec', ...path].join('.')
}
