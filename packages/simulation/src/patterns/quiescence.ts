/** T13: once all is as it should be, hours pass without a single write. */
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import type { Pattern } from './pattern.ts'

/** Ten hours after each step to rest on, with and without a lease to keep. Every other run ends with a short rest. */
export const quiescence: Pattern = {
  id: 'T13',
  title: 'quiescence',
  coverage: 'exhaustive',
  async points(context) {
    const modes = context.operator.hasElection ? (['alone', 'elected'] as const) : (['alone'] as const)
    return modes.map((mode) => ({
      label: `ten hours of rest, ${mode}`,
      run: () => context.disturbed(mode, { restMs: EXPLORATION_DEFAULTS.longRestMs }),
    }))
  },
}
