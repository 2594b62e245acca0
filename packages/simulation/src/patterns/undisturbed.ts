/** The undisturbed run is a suspect, too: every other run is compared with it. */
import { differences } from '../compare/difference.ts'
import { withoutTimes } from '../compare/snapshot.ts'
import { type Problem, problem } from '../judge/problem.ts'
import { repeatedWrites } from '../run/baseline.ts'
import type { ScenarioRun } from '../run/run-options.ts'
import { runScenario } from '../run/scenario-run.ts'
import { describeRequest, isBookkeeping, objectId } from '../world/request-facts.ts'
import { type Mode, outcomeOf, type Pattern, type PatternContext, type Point, type PointOutcome } from './pattern.ts'

/**
 * The scenario without a fault, in each of the ways in which it is run for comparison; and again with a rest after
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
        run: async () => {
          const run = await context.undisturbed(mode)
          const outcome = outcomeOf(run)
          return mode === 'pair' ? { ...outcome, problems: [...outcome.problems, ...bothWrite(run)] } : outcome
        },
      }),
    )
    const toTheEnd: Point = {
      label: 'the scenario with an hour of rest after every step, until everything declared is deleted',
      shape: { coarse: 'to the end', fine: '' },
      run: async () => {
        const slow = { seed, restsAlways: true, endsEmpty: true, restMs: SLOW_REST_MS }
        return comparedTo(context, await runScenario(operator, scenario, slow), 'how long their steps take')
      },
    }
    const otherSeed: Point = {
      label: 'the scenario without a fault, with another seed',
      shape: { coarse: 'another seed', fine: '' },
      run: async () => comparedTo(context, await context.withOtherSeed(), 'their seed'),
    }
    return [...runs, toTheEnd, otherSeed]
  },
}

/** Nothing happens to the first instance: the second never becomes responsible for what the first one wrote. */
function bothWrite({ world }: ScenarioRun): readonly Problem[] {
  const writers = new Map<string, number>()
  for (const write of world.log.requests) {
    if (!write.isWrite || isBookkeeping(write.resource)) continue
    const id = objectId(write)
    const first = writers.get(id) ?? write.instance
    writers.set(id, first)
    if (first === write.instance) continue
    const message = `two instances that compete for a lease write at the same time: ${describeRequest(write)}`
    return [problem('late-write', message)]
  }
  return []
}

/** Long enough for what an operator does by the clock. */
const SLOW_REST_MS = 3_600_000

/** What is drawn may differ, and when something happened; what there is and how often it was created may not. */
async function comparedTo(context: PatternContext, other: ScenarioRun, factor: string): Promise<PointOutcome> {
  const { baseline } = await context.undisturbed('alone')
  const outcome = outcomeOf(other)
  for (const [step, snapshot] of baseline.snapshots.entries()) {
    const [one, two] = [snapshot, other.baseline.snapshots[step] ?? new Map()].map((taken) =>
      withoutTimes(baseline.chosen.apply(taken)),
    )
    const found = differences(one ?? new Map(), two ?? new Map())
    if (found.length === 0) continue
    const name = context.scenario.steps[step]?.name
    const message = `two undisturbed runs that differ only in ${factor} differ after the step "${name}": one of the two is wrong`
    return {
      ...outcome,
      problems: [...outcome.problems, problem('state-differs', message)],
      differences: found,
      trace: other.world.log.trace.excerpt(),
    }
  }
  const repeated = repeatedWrites(other.baseline, baseline, { extraCreates: 0, extraDeletes: 0, extraRemovals: 0 })
  return { ...outcome, problems: [...outcome.problems, ...repeated] }
}
