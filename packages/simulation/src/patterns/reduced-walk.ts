/** Finds the smallest walk that still shows a difference. */
import type { PlainObject } from '../operator-under-test.ts'
import { removablePaths, without } from '../schema/changed-values.ts'
import type { PointOutcome } from './pattern.ts'
import { accepted, type Parts } from './walk-parts.ts'

/** Runs a walk; when it fails, leaves out states and parts of states as long as it still does. */
export async function reduced(
  parts: Parts,
  states: readonly PlainObject[],
  run: (states: readonly PlainObject[]) => Promise<PointOutcome>,
): Promise<PointOutcome> {
  const { maxShrinkRuns } = parts.context
  const first = await run(states)
  if (first.problems.length === 0) return first
  let [outcome, current, runs] = [first, states, 0]
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const candidate of simpler(parts, current)) {
      if (runs++ >= maxShrinkRuns) return smallest(outcome, current, runs > 1)
      const tried = await run(candidate)
      if (kindOf(tried) !== kindOf(first)) continue
      ;[outcome, current, isSmaller] = [tried, candidate, true]
      break
    }
  }
  return smallest(outcome, current)
}

/**
 * The outcome, with the states that lead to it in its message.
 *
 * @param isReduced whether smaller ones were tried
 */
export function smallest(outcome: PointOutcome, states: readonly PlainObject[], isReduced = true): PointOutcome {
  const walk = states.map((state) => JSON.stringify(state)).join(' then ')
  const [first, ...others] = outcome.problems
  if (first === undefined) return outcome
  const shown = {
    ...first,
    message: `${first.message}; the ${isReduced ? 'smallest walk' : 'walk'} that shows it: ${walk}`,
  }
  return { ...outcome, problems: [shown, ...others] }
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
