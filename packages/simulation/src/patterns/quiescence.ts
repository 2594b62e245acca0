/** T13: once all is as it should be, hours pass without a single write. */
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import { outcomeOf, type Pattern } from './pattern.ts'

/** Ten hours after each step to rest on. All other patterns end every run with an hour of the same. */
export const quiescence: Pattern = {
  id: 'T13',
  title: 'quiescence',
  coverage: 'exhaustive',
  async points(context) {
    const modes = context.operator.hasElection ? (['alone', 'elected'] as const) : (['alone'] as const)
    return modes.map((mode) => ({
      label: `ten hours of rest, ${mode}`,
      // A lease is renewed every other second: an hour of that shows as much as ten.
      run: async () =>
        mode === 'alone'
          ? context.disturbed(mode, { restMs: EXPLORATION_DEFAULTS.longRestMs })
          : outcomeOf(await context.undisturbed(mode)),
    }))
  },
}
