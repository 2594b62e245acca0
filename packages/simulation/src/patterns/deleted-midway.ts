/** A user deletes what is declared while the operator is still at work on it: nothing of that work may stay. */
import type { ProblemKind } from '../judge/problem.ts'
import type { Step } from '../operator-under-test.ts'
import type { RunControl } from '../run/run-options.ts'
import { runScenario } from '../run/scenario-run.ts'
import { deleteDeclared } from '../run/user-actions.ts'
import { DELIVER, type Disturbance } from '../world/disturbance.ts'
import { describeRequest, isBookkeeping } from '../world/request-facts.ts'
import { outcomeOf, type Pattern, type PatternContext, type Point, type PointOutcome, type Shape } from './pattern.ts'
import { requestShape } from './shapes.ts'

/** Whether the operator sees the deletion, or finds that it has happened. */
const WAYS = ['', ', while the operator restarts'] as const
type Way = (typeof WAYS)[number]

/** What the end of such a run is judged by. A reconcile that is overtaken by the deletion may fail, and say so. */
const JUDGED: ReadonlySet<ProblemKind> = new Set([
  'left-behind',
  'goal-not-reached',
  'foreign-object',
  'activity-at-rest',
  'not-settled',
  'runaway',
  'instance-ended',
])

/** What may be stuck in a step that cannot reach its goal: what keeps it from that may keep it from being deleted. */
const STUCK: ReadonlySet<ProblemKind> = new Set(['goal-not-reached', 'activity-at-rest', 'not-settled'])

/** Everything declared is deleted right after each write and each call outside, which may be half of the work. */
export const deletedMidway: Pattern = {
  name: 'deleted-midway',
  title: 'deleted during the work on it',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const writes = world.log.requests.filter(({ isWrite, resource }) => isWrite && !isBookkeeping(resource))
    return WAYS.flatMap((way) => [
      ...writes.map((write): Point => {
        const after = `request ${write.index} (${describeRequest(write)})`
        const fault = { way, after, shape: requestShape(write, `deleted${way}`) }
        return pointAt(context, fault, (strike) => ({
          onResponse: ({ index, instance }) => {
            if (index === write.index) strike(instance)
            return DELIVER
          },
        }))
      }),
      ...world.log.calls.map((call): Point => {
        const after = `outside call ${call.index} (${call.operation})`
        const fault = { way, after, shape: { coarse: `call, deleted${way}`, fine: call.operation } }
        return pointAt(context, fault, (strike) => ({
          onCalled: ({ index, instance }) => {
            if (index === call.index) strike(instance)
          },
        }))
      }),
    ])
  },
}

interface Deletion {
  readonly way: Way
  readonly after: string
  readonly shape: Shape
}

function pointAt(
  context: PatternContext,
  { way, after, shape }: Deletion,
  when: (strike: (instance: number) => void) => Disturbance,
): Point {
  const disturb = ({ world, fault, problem, replace, end }: RunControl, onStep: (step: Step | undefined) => void) =>
    when((instance) => {
      fault('a user deletes everything that is declared')
      onStep(end())
      if (way !== '') replace(instance)
      // Everything happens in this process: it is over before time passes.
      const deleting = world.asUser(() => deleteDeclared(world, context.operator))
      deleting.catch((error: unknown) => problem('not-settled', `the deletion failed: ${String(error)}`))
    })
  return {
    label: `everything declared is deleted right after ${after}${way}`,
    shape,
    run: () => runToTheEnd(context, disturb),
  }
}

/** There is no undisturbed run to compare with: in the end, there must be nothing. */
async function runToTheEnd(
  { operator, scenario, seed }: PatternContext,
  disturb: (control: RunControl, onStep: (step: Step | undefined) => void) => Disturbance,
): Promise<PointOutcome> {
  let struck: Step | undefined
  const run = await runScenario(operator, scenario, {
    seed,
    disturb: (control) =>
      disturb(control, (step) => {
        struck = step
      }),
    endsEmpty: true,
  })
  const outcome = outcomeOf(run)
  const mayBeStuck = (struck?.goal ?? 'settled') !== 'settled'
  const isJudged = (kind: ProblemKind) => JUDGED.has(kind) && !(mayBeStuck && STUCK.has(kind))
  return { ...outcome, problems: outcome.problems.filter(({ kind }) => isJudged(kind)) }
}
