/** How long the runs of a scenario file wait for what. */
import type { RealTime } from '../pace.ts'
import { ScenarioError } from './scenario-fields.ts'
import type { ScenarioFile } from './scenario-file.ts'

const MINUTE_MS = 60_000

/** Times of an exploration of processes; a minute of a pattern takes a few seconds. */
const DEFAULTS = Object.freeze({
  speed: 6,
  quietMs: 3_000,
  patienceMs: 40_000,
  restMs: 1_500,
  longRestMs: 30_000,
})

/** With more, one point that never settles would take hours: it is waited for in each of three runs. */
const MAX_PATIENCE_MS = 30 * MINUTE_MS

/** How often a run may wait besides once for each step: for the start, for the fault and its end, for the deletion of everything. */
const OTHER_WAITS = 4

/** The shortest limit of a run: on a busy machine even a run without any wait takes a while. */
const MIN_RUN_MS = 5 * MINUTE_MS

/**
 * The times of a scenario. A run may take as long as all of its waits together: whatever does not settle is reported with
 * what differs, not as a run that was cut off.
 *
 * *Errors*: {@link ScenarioError} for times that cannot work together.
 */
export function scenarioTimes(file: Pick<ScenarioFile, 'quietMs' | 'patienceMs' | 'steps'>): Omit<RealTime, 'signal'> {
  const { quietMs = DEFAULTS.quietMs, patienceMs = DEFAULTS.patienceMs, steps } = file
  if (patienceMs > MAX_PATIENCE_MS)
    throw new ScenarioError(
      `settled.patience must be at most ${MAX_PATIENCE_MS / MINUTE_MS}m, not ${duration(patienceMs)}: ` +
        'start the operator with a shorter back-off and a shorter period of its resync',
    )
  if (patienceMs <= quietMs)
    throw new ScenarioError(
      `settled.patience (${duration(patienceMs)}) must be longer than settled.quiet (${duration(quietMs)}): ` +
        'a state settles within the patience when nothing is written for the quiet time',
    )
  const waitsMs = (steps.length + OTHER_WAITS) * patienceMs + (steps.length + 1) * DEFAULTS.longRestMs
  return { ...DEFAULTS, quietMs, patienceMs, maxRunMs: Math.max(MIN_RUN_MS, waitsMs) }
}

function duration(ms: number): string {
  if (ms % MINUTE_MS === 0 && ms > 0) return `${ms / MINUTE_MS}m`
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`
}
