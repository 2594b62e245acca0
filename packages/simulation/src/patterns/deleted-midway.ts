/** A user deletes what is declared while the operator is still at work on it: nothing of that work may stay. */
import type { ProblemKind } from '../judge/problem.ts'
import type { RunControl } from '../run/run-options.ts'
import { runScenario } from '../run/scenario-run.ts'
import { deleteDeclared } from '../run/user-actions.ts'
import { DELIVER, type Disturbance } from '../world/disturbance.ts'
import { describeRequest, isBookkeeping } from '../world/request-facts.ts'
import { objectsOf, patchAsSomebody, read, type Target } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import { outcomeOf, type Pattern, type PatternContext, type Point, type PointOutcome, type Shape } from './pattern.ts'
import { requestShape } from './shapes.ts'

/** Whether the operator sees the deletion, finds that it has happened, or is not the only one that has to clean up. */
const WAYS = ['', ', while the operator restarts', ', with a finalizer of someone else'] as const
type Way = (typeof WAYS)[number]

/** The finalizer of someone else, and how long that takes: shorter than a run waits for quiet. */
const FOREIGN_FINALIZER = 'exploration.reeve.dev/another-client'
const HELD_MS = 15_000

/** What the end of such a run is judged by. A reconcile that is overtaken by the deletion may fail, and say so. */
const JUDGED: ReadonlySet<ProblemKind> = new Set([
  'left-behind',
  'goal-not-reached',
  'foreign-object',
  'foreign-write-lost',
  'activity-at-rest',
  'not-settled',
  'runaway',
  'instance-ended',
])

/** Everything declared is deleted right after each write and each call outside, which may be half of the work. */
export const deletedMidway: Pattern = {
  name: 'deleted-midway',
  title: 'deleted during the work on it',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const writes = world.log.requests.filter(({ isWrite, resource }) => isWrite && !isBookkeeping(resource))
    const points = WAYS.flatMap((way) => [
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
    return points.filter((point, index) => !isHeld(point) || index === points.findIndex((one) => isAlike(one, point)))
  },
}

/** When the finalizer of someone else is added hardly matters: once after each kind of write is enough. */
const isHeld = ({ label }: Point) => label.endsWith(WAYS[2])
const isAlike = (one: Point, other: Point) => one.shape.coarse === other.shape.coarse

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
  const disturb = (control: RunControl) =>
    when((instance) => {
      const { world, fault, problem, replace, end } = control
      fault('a user deletes everything that is declared')
      end()
      if (way === WAYS[1]) replace(instance)
      // Everything happens in this process: it is over before time passes.
      const deleting = way === WAYS[2] ? deleteHeld(context, control) : deleteAsUser(context, world)
      deleting.catch((error: unknown) => problem('not-settled', `the deletion failed: ${String(error)}`))
    })
  return {
    label: `everything declared is deleted right after ${after}${way}`,
    shape,
    run: () => runToTheEnd(context, disturb),
  }
}

const deleteAsUser = ({ operator }: PatternContext, world: World) => world.asUser(() => deleteDeclared(world, operator))

/** Someone else has to clean up as well, and takes a while for it. */
async function deleteHeld(context: PatternContext, { world, problem, note }: RunControl): Promise<void> {
  const held = context.operator.crds.flatMap(({ name }) => objectsOf(world, name))
  const uids = held.map((target) => read(world, target)?.metadata.uid)
  for (const target of held) await setFinalizers(world, target, (own) => [...own, FOREIGN_FINALIZER])
  await deleteAsUser(context, world)
  const letGo = async () => {
    note('someone else has cleaned up')
    for (const [index, target] of held.entries()) {
      const { uid, finalizers = [] } = read(world, target)?.metadata ?? {}
      const isHeldStill = uid === uids[index] && finalizers.includes(FOREIGN_FINALIZER)
      if (isHeldStill) await setFinalizers(world, target, (all) => all.filter((one) => one !== FOREIGN_FINALIZER))
      else
        problem('foreign-write-lost', `the finalizer of someone else is removed from ${target.resource} ${target.name}`)
    }
  }
  world.clock.schedule(HELD_MS, () => {
    letGo().catch((error: unknown) => problem('not-settled', `the clean-up of someone else failed: ${String(error)}`))
  })
}

function setFinalizers(world: World, target: Target, next: (own: readonly string[]) => readonly string[]) {
  const finalizers = next(read(world, target)?.metadata.finalizers ?? [])
  return patchAsSomebody(world, target, { metadata: { finalizers } })
}

/** There is no undisturbed run to compare with: in the end, there must be nothing. */
async function runToTheEnd(
  { operator, scenario, seed }: PatternContext,
  disturb: (control: RunControl) => Disturbance,
): Promise<PointOutcome> {
  const outcome = outcomeOf(await runScenario(operator, scenario, { seed, disturb, endsEmpty: true }))
  return { ...outcome, problems: outcome.problems.filter(({ kind }) => JUDGED.has(kind)) }
}
