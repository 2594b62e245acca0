/** Says which walk is the smallest that still shows a difference. */
import type { PlainObject } from '../operator-under-test.ts'
import type { PointOutcome } from './pattern.ts'

/** The outcome, with the states that lead to it in its message. */
export function smallest(outcome: PointOutcome, states: readonly PlainObject[]): PointOutcome {
  const walk = states.map((state) => JSON.stringify(state)).join(' then ')
  const [first, ...others] = outcome.problems
  if (first === undefined) return outcome
  const shown = { ...first, message: `${first.message}; the smallest walk that shows it: ${walk}` }
  return { ...outcome, problems: [shown, ...others] }
}
