/** The operator acts while its own write is not visible yet. */
import { FalseErrors } from '../judge/false-errors.ts'
import type { RunControl } from '../run/run-options.ts'
import { DELIVER, type Disturbance, PASS, type SeamRequest } from '../world/disturbance.ts'
import { describeRequest, isBookkeeping } from '../world/request-facts.ts'
import { describeEvent } from '../world/seam.ts'
import { objectsOf } from '../world/targets.ts'
import { type Pattern, pointOf } from './pattern.ts'
import { requestShape } from './shapes.ts'

/** How late the event of an own write arrives. Zero is the undisturbed run. */
const LATE = [
  { name: 'after one more reconcile', delayMs: 1_000, isProvoked: true },
  { name: '10 s late', delayMs: 10_000, isProvoked: false },
] as const

/** The event of each own write arrives late. */
export const lateOwnWrite: Pattern = {
  name: 'late-own-write',
  title: 'the event of an own write is late',
  coverage: 'exhaustive',
  async points(context) {
    const primary = context.operator.crds[0]?.name ?? ''
    const { world } = await context.undisturbed('alone')
    const writes = world.log.requests.filter(({ isWrite, resource }) => isWrite && !isBookkeeping(resource))
    return writes.flatMap((write) =>
      LATE.map((late) =>
        pointOf(context, {
          label: `the event of request ${write.index} (${describeRequest(write)}) arrives ${late.name}`,
          shape: requestShape(write, late.name),
          mode: 'alone',
          options: { extraRemovals: 0 },
          disturb: (control) =>
            arrivesLate(write, { primary, errors: new FalseErrors(control.world, context.operator) }, late, control),
        }),
      ),
    )
  },
}

function arrivesLate(
  write: SeamRequest,
  { primary, errors }: { readonly primary: string; readonly errors: FalseErrors },
  { name, delayMs, isProvoked }: (typeof LATE)[number],
  { world, fault, problem }: RunControl,
): Disturbance {
  let isArmed = false
  return {
    onRequest: ({ index }) => {
      if (index === write.index) isArmed = true
      return PASS
    },
    onEvent: (event) => {
      const isIts = event.resource === write.resource && (write.name === undefined || event.name === write.name)
      if (!isArmed || !isIts || event.type === 'BOOKMARK') return DELIVER
      isArmed = false
      fault(`${describeEvent(event)} arrives ${name}`, delayMs)
      errors.begin()
      // A touch of what is declared makes the operator reconcile it once while the event is delayed.
      for (const target of isProvoked ? objectsOf(world, primary) : []) {
        world.foreign.mark(world, target).catch((error: unknown) => problem('foreign-write-lost', String(error)))
      }
      return { type: 'delay', delayMs }
    },
    onStepEnd: async () => {
      for (const error of errors.end())
        problem('false-error', `${error}, which went away: the operator does not see its own write at once`)
    },
  }
}
