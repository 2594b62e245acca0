/** The undisturbed run is a suspect, too: every other run is compared with it. */
import { differences } from '../compare/difference.ts'
import { problem } from '../run/problem.ts'
import { runScenario } from '../run/scenario-run.ts'
import { type Mode, outcomeOf, type Pattern, type PatternContext, type Point, type PointOutcome } from './pattern.ts'

/**
 * The scenario without a fault, in each of the ways in which it is run for comparison; and once more with a rest after
 * every step, until everything declared is deleted.
 */
export const undisturbed: Pattern = {
  name: 'undisturbed',
  title: 'no fault at all',
  coverage: 'exhaustive',
  isFaultless: true,
  async points(context) {
    const { operator, scenario, seed } = context
    const modes: readonly Mode[] = operator.hasElection ? ['alone', 'elected', 'pair'] : ['alone']
    const runs = modes.map(
      (mode): Point => ({
        label: `the scenario without a fault, ${mode}`,
        shape: { coarse: 'without a fault', fine: mode },
        run: async () => outcomeOf(await context.undisturbed(mode)),
      }),
    )
    const toTheEnd: Point = {
      label: 'the scenario with a rest after every step, until everything declared is deleted',
      shape: { coarse: 'to the end', fine: '' },
      run: async () => outcomeOf(await runScenario(operator, scenario, { seed, restsAlways: true, endsEmpty: true })),
    }
    const otherSeed: Point = {
      label: 'the scenario without a fault, with another seed',
      shape: { coarse: 'another seed', fine: '' },
      run: () => withOtherSeed(context),
    }
    return [...runs, toTheEnd, otherSeed]
  },
}

/** What is drawn may differ; whether and where something is drawn may not. */
async function withOtherSeed(context: PatternContext): Promise<PointOutcome> {
  const { baseline } = await context.undisturbed('alone')
  const other = await context.withOtherSeed()
  const outcome = outcomeOf(other)
  for (const [step, snapshot] of baseline.snapshots.entries()) {
    const [one, two] = [snapshot, other.baseline.snapshots[step] ?? new Map()].map((taken) =>
      baseline.chosen.apply(taken),
    )
    const found = differences(one ?? new Map(), two ?? new Map())
    if (found.length === 0) continue
    const name = context.scenario.steps[step]?.name
    const message = `two undisturbed runs that differ in their seed differ after the step "${name}": one of the two is wrong`
    return {
      ...outcome,
      problems: [...outcome.problems, problem('state-differs', message)],
      differences: found,
      trace: other.world.log.trace.excerpt(),
    }
  }
  return outcome
}
