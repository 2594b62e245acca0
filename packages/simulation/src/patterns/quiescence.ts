/** Once the state is as desired, hours and restarts pass without a single write. */
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import type { RunControl } from '../run/run-options.ts'
import type { Disturbance } from '../world/disturbance.ts'
import type { Mode, Pattern, Point } from './pattern.ts'

/**
 * Ten hours after each step to rest on, with and without a lease to keep; and another instance after each step, which
 * finds everything done. What it changes then was missed before, or is changed for nothing. Every other run ends with a
 * short rest.
 */
export const quiescence: Pattern = {
  name: 'quiescence',
  title: 'nothing to do',
  coverage: 'exhaustive',
  isFaultless: true,
  async points(context) {
    const modes: readonly Mode[] = context.operator.hasElection ? ['alone', 'elected'] : ['alone']
    const rests = modes.map((mode): Point => {
      const label = `ten hours of rest, ${mode}`
      return {
        label,
        shape: { coarse: 'rest', fine: mode },
        run: () => context.disturbed(mode, { restMs: EXPLORATION_DEFAULTS.longRestMs }),
      }
    })
    // An operator that cannot reach its goal may try again when it starts.
    const settled = [...context.scenario.steps.entries()].filter(([, { goal = 'settled' }]) => goal === 'settled')
    const restarts = settled.map(([step, { name }]): Point => {
      const label = `restarted at rest after the step "${name}"`
      return {
        label,
        shape: { coarse: 'restart', fine: name },
        run: () => context.disturbed('alone', { disturb: (control) => restartAfter(step, control) }),
      }
    })
    return [...restarts, ...rests]
  },
}

/** How long an instance has to find nothing to do. */
const LOOK_AROUND_MS = 60_000

function restartAfter(step: number, { world, crash, problem }: RunControl): Disturbance {
  return {
    onStepEnd: async (ended) => {
      if (ended !== step) return
      const before = world.ledger.effects.length
      for (const { number } of world.running) crash(number)
      await world.clock.advance(LOOK_AROUND_MS)
      const changed = [...new Set(world.ledger.effects.slice(before))]
      if (changed.length === 0) return
      const examples = changed.slice(0, 3).join(', ')
      problem('activity-at-rest', `a new instance should find everything done, and changes ${examples}`)
    },
  }
}
