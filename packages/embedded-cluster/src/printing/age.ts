/** Formats the time since a timestamp in the short form of table cells. */
import type { JsonValue } from '../json.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/**
 * A duration in at most two units: the smaller one is dropped for long durations.
 *
 * @example
 * humanDuration(75_000) // '75s'
 * humanDuration(564_000) // '9m24s'
 */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds <= 0) return '0s'
  if (seconds < 2 * MINUTE) return `${seconds}s`
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', 1, 's')
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`
  if (seconds < 8 * HOUR) return two(seconds, HOUR, 'h', MINUTE, 'm')
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`
  if (seconds < 8 * DAY) return two(seconds, DAY, 'd', HOUR, 'h')
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`
  if (seconds < 8 * YEAR) return two(seconds, YEAR, 'y', DAY, 'd')
  return `${Math.floor(seconds / YEAR)}y`
}

function two(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small)
  const whole = `${Math.floor(seconds / large)}${largeName}`
  return rest === 0 ? whole : `${whole}${rest}${smallName}`
}

/** The time since a timestamp; `<unknown>` when there is none. */
export function since(timestamp: JsonValue | undefined, now: number): string {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>'
  const time = Date.parse(timestamp)
  return Number.isNaN(time) ? '<unknown>' : humanDuration(now - time)
}
