/** The process dies around a write, around a call to the outside world, or at an event. */
import { DELIVER } from '../world/disturbance.ts'
import { describeRequest } from '../world/request-facts.ts'
import { describeEvent } from '../world/seam.ts'
import { type Pattern, pointOf } from './pattern.ts'
import { eventShape, requestShape } from './shapes.ts'

const WHEN = ['before its response arrives', 'right after its response'] as const

/** Killed around every write, in both orders. */
export const crashAfterWrite: Pattern = {
  name: 'crash-after-write',
  title: 'killed after a write',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const writes = world.log.requests.filter(({ isWrite }) => isWrite)
    return writes.flatMap((write) =>
      WHEN.map((when) =>
        pointOf(context, {
          label: `killed after request ${write.index} (${describeRequest(write)}), ${when}`,
          shape: requestShape(write, when),
          mode: 'alone',
          disturb: ({ crash }) => ({
            onResponse: ({ index, instance }) => {
              if (index !== write.index) return DELIVER
              crash(instance)
              return when === WHEN[0] ? { type: 'lose' } : DELIVER
            },
          }),
        }),
      ),
    )
  },
}

/** When the operator dies around a call to the outside world. */
const AROUND_CALL = ['while it runs', ...WHEN] as const

/** Killed around every call to the outside world; its effects are part of the end state. */
export const crashAroundCall: Pattern = {
  name: 'crash-around-call',
  title: 'killed around a call outside',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    return world.log.calls.flatMap((call) =>
      AROUND_CALL.map((when) =>
        pointOf(context, {
          label: `killed at outside call ${call.index} (${call.operation}), ${when}`,
          shape: { coarse: `call ${when}`, fine: call.operation },
          mode: 'alone',
          disturb: ({ crash }) => ({
            onCall: ({ index, instance }) => {
              if (index !== call.index || when !== WHEN[0]) return 'deliver'
              crash(instance)
              return 'lose'
            },
            onCalling: ({ index, instance }) => {
              if (index === call.index && when === 'while it runs') crash(instance)
            },
            onCalled: ({ index, instance }) => {
              if (index === call.index && when === WHEN[1]) crash(instance)
            },
          }),
        }),
      ),
    )
  },
}

/** Killed when an event arrives: the reaction to it is lost. */
export const crashAtEvent: Pattern = {
  name: 'crash-at-event',
  title: 'killed at an event',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const events = world.log.events.filter(({ type }) => type !== 'BOOKMARK')
    return events.map((event) =>
      pointOf(context, {
        label: `killed when event ${event.index} (${describeEvent(event)}) arrives`,
        shape: eventShape(event),
        mode: 'alone',
        disturb: ({ crash }) => ({
          onEvent: ({ index, instance }) => {
            if (index === event.index) crash(instance)
            return DELIVER
          },
        }),
      }),
    )
  },
}
