/** How long a run waits for what. */
import { EXPLORATION_DEFAULTS } from './defaults.ts'

/** How an operator is explored that keeps real time, because it runs in a process of its own. All times are real. */
export interface RealTime {
  /** How much faster the faults of patterns pass than they are written. */
  readonly speed: number
  /** The undisturbed run counts as settled when nothing was written for this long. */
  readonly quietMs: number
  /** Longest time that the operator may take to recover from a fault. */
  readonly patienceMs: number
  /** How long nothing may be written after a run. */
  readonly restMs: number
  /** The same where patterns ask for hours. */
  readonly longRestMs: number
  /** When a run is cut off that still sends requests. Longer than a run in which every step takes all of its patience. */
  readonly maxRunMs: number
  /** Ends runs in progress: their processes are stopped, and their results are of no interest. @default never */
  readonly signal?: AbortSignal | undefined
}

/** Times on the clock of the world. */
export interface Pace {
  readonly quietMs: number
  readonly lookMs: number
  readonly patienceMs: number
  /** Whether two runs are the same, to the millisecond, until something differs. */
  readonly isExact: boolean
  /** How long a rest of this length lasts here. */
  rest(ms: number): number
  /** How long something takes here that takes the operator this long. */
  ofOperator(ms: number): number
  /** `20 minutes`, `30 s`. */
  describe(ms: number): string
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** How often a run in real time is compared. */
const REAL_LOOK_MS = 400

/** Simulated time: waiting costs nothing. */
export const SIMULATED_PACE: Pace = {
  quietMs: EXPLORATION_DEFAULTS.quietMs,
  lookMs: EXPLORATION_DEFAULTS.lookMs,
  patienceMs: EXPLORATION_DEFAULTS.patienceMs,
  isExact: true,
  rest: (ms) => ms,
  ofOperator: (ms) => ms,
  describe: (ms) => (ms < HOUR_MS ? `${ms / MINUTE_MS} minutes` : `${ms / HOUR_MS} hours`),
}

/** Real time on a clock that is faster. */
export function realPace({
  speed,
  quietMs,
  patienceMs,
  restMs,
  longRestMs,
}: Pick<RealTime, 'speed' | 'quietMs' | 'patienceMs' | 'restMs' | 'longRestMs'>): Pace {
  return {
    quietMs: quietMs * speed,
    lookMs: REAL_LOOK_MS * speed,
    patienceMs: patienceMs * speed,
    isExact: false,
    rest: (ms) => (ms > HOUR_MS ? longRestMs : restMs) * speed,
    ofOperator: (ms) => ms * speed,
    describe: (ms) => `${Math.round(ms / speed / 100) / 10} s`,
  }
}
