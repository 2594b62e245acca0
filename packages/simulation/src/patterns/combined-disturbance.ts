/** Two disturbances in one run: the second is asked only once the first has struck. */
import { DELIVER, type Disturbance, PASS } from '../world/disturbance.ts'

/** @param isArmed whether the first has struck */
export function combined(first: Disturbance, second: Disturbance, isArmed: () => boolean): Disturbance {
  return {
    onRequest: async (request) => {
      const wasArmed = isArmed()
      const fate = (await first.onRequest?.(request)) ?? PASS
      return fate.type === 'pass' && wasArmed ? ((await second.onRequest?.(request)) ?? PASS) : fate
    },
    onResponse: (request, status) => {
      const wasArmed = isArmed()
      const fate = first.onResponse?.(request, status) ?? DELIVER
      return fate.type === 'deliver' && wasArmed ? (second.onResponse?.(request, status) ?? DELIVER) : fate
    },
    onEvent: (event) => {
      const wasArmed = isArmed()
      const fate = first.onEvent?.(event) ?? DELIVER
      return fate.type === 'deliver' && wasArmed ? (second.onEvent?.(event) ?? DELIVER) : fate
    },
  }
}
