/** Times of a run by the step in which they lie: two good runs are never equally fast, but do the same in each step. */

/** When a step of the scenario began. */
export interface StepStart {
  readonly name: string
  /** In milliseconds since the epoch, on the virtual clock. */
  readonly atMs: number
}

/** The time of one run. */
export interface TimeScale {
  /** When the virtual clock started. */
  readonly startMs: number
  readonly nowMs: number
  /** Steps so far; without any, all times of the run are alike. */
  readonly steps: readonly StepStart[]
}

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g
const WHOLE_ISO = new RegExp(`^${ISO.source}$`)

/** Digits that may be a time in seconds or milliseconds since the epoch. */
const EPOCH = /(?<!\d)\d{10}(?:\d{3})?(?!\d)/g

/** Fields with the time of the last check, or with a temporary state. */
const PASSING = new Set(['lastTransitionTime', 'lastUpdateTime', 'lastProbeTime', 'lastHeartbeatTime', 'renewTime'])

/** Times to come differ by as much as one run is slower than the other. */
const TOLERANCE_MS = 30 * 60_000

const YEAR_MS = 366 * 24 * 3_600_000

/** Something later than a run, such as the end of a certificate, as an offset from its start. */
const TO_COME = /^<time \+(\d+) s>$/

/**
 * A text with its times replaced by the step in which they lie. Times before the run, or long after
 * it, are kept.
 *
 * @param createdMs when the object that contains the text was created: times recorded then are not compared by step,
 * because an object may be created again later
 */
export function describeTimes(text: string, scale: TimeScale, createdMs?: number, field = ''): string {
  if (WHOLE_ISO.test(text))
    return PASSING.has(field) ? '<time>' : (describeTime(Date.parse(text), scale, createdMs) ?? text)
  return text
    .replace(ISO, (found) => describePast(Date.parse(found), scale, createdMs) ?? found)
    .replace(EPOCH, (found) => describePast(fromEpoch(Number(found)), scale, createdMs) ?? found)
}

/** The same for a number that may be a time since the epoch. */
export function describeNumber(value: number, scale: TimeScale, createdMs?: number): number | string {
  if (!Number.isInteger(value) || value < 1_000_000_000) return value
  return describePast(fromEpoch(value), scale, createdMs) ?? value
}

/** Whether two texts are times to come that two good runs may differ in. */
export function areAlikeTimes(one: string, other: string): boolean {
  const [first, second] = [TO_COME.exec(one)?.[1], TO_COME.exec(other)?.[1]]
  return first !== undefined && second !== undefined && Math.abs(Number(first) - Number(second)) * 1_000 <= TOLERANCE_MS
}

function describeTime(ms: number, scale: TimeScale, createdMs: number | undefined): string | undefined {
  const past = describePast(ms, scale, createdMs)
  if (past !== undefined || ms < scale.startMs || ms > scale.startMs + 10 * YEAR_MS) return past
  return `<time +${Math.round((ms - scale.startMs) / 1_000)} s>`
}

/** `undefined` for what is not a time of this run. */
function describePast(ms: number, { startMs, nowMs, steps }: TimeScale, createdMs: number | undefined) {
  // Times are recorded in whole seconds, which may be a moment before the start.
  if (!(ms > startMs - 1_000 && ms <= nowMs)) return undefined
  if (steps.length === 0) return '<time>'
  const step = stepAt(ms, steps)
  if (createdMs !== undefined && step === stepAt(createdMs, steps)) return '<time of its creation>'
  return step === undefined ? '<time before the first step>' : `<time during "${step}">`
}

function stepAt(ms: number, steps: readonly StepStart[]): string | undefined {
  // A second is as exact as most times are.
  return steps.findLast(({ atMs }) => Math.floor(atMs / 1_000) * 1_000 <= ms)?.name
}

function fromEpoch(value: number): number {
  return value < 100_000_000_000 ? value * 1_000 : value
}
