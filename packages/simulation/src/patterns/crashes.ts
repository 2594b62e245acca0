/** T1 and T2: the process dies around a write, or around a call to the world outside. */

import type { RunControl } from '../scenario-run.ts'
import { DELIVER } from '../world/disturbance.ts'
import { describeRequest } from '../world/request-facts.ts'
import type { Pattern } from './pattern.ts'

const WHEN = ['before its answer arrives', 'right after its answer'] as const

/** Killed around every write, in both orders. */
export const crashAfterWrite: Pattern = {
  id: 'T1',
  title: 'crash after every write',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const writes = world.requests.filter(({ isWrite }) => isWrite)
    return writes.flatMap((write) =>
      WHEN.map((when) => ({
        label: `killed after request ${write.index} (${describeRequest(write)}), ${when}`,
        run: () =>
          context.disturbed('alone', {
            disturb: ({ crash }) => ({
              onResponse: ({ index, instance }) => {
                if (index !== write.index) return DELIVER
                crash(instance)
                return when === WHEN[0] ? { type: 'lose' } : DELIVER
              },
            }),
          }),
      })),
    )
  },
}

/** When the operator dies around a call to the outside world. */
const AROUND_CALL = ['while it runs', ...WHEN] as const

/** Killed around every call to the outside world; its effects are part of the end state. */
export const crashAroundOutsideCall: Pattern = {
  id: 'T2',
  title: 'crash around an outside call',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    return world.calls.flatMap((call) =>
      AROUND_CALL.map((when) => ({
        label: `killed at outside call ${call.index} (${call.operation}), ${when}`,
        run: () =>
          context.disturbed('alone', {
            disturb: ({ crash }: RunControl) => ({
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
      })),
    )
  },
}
