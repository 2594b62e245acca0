/** Cron schedules: parses `0,30 8-18 * * mon-fri` and computes its times. */

import { parseDuration } from './time.ts'

/** A schedule that cannot be parsed. */
export class CronSyntaxError extends Error {
  override readonly name = 'CronSyntaxError'
  readonly code = 'CRON_SYNTAX'
}

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const FIELDS: readonly [Field, Field, Field, Field, Field] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  {
    name: 'month',
    min: 1,
    max: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of week', min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
]

const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/** Longer than the gap of any schedule: February 29th on a given weekday can take 28 years. */
const HORIZON_DAYS = 29 * 366
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

interface ParsedField {
  readonly values: readonly number[]
  /** Whether the field is unrestricted, which determines how day of month and day of week combine. */
  readonly isOpen: boolean
}

/** A parsed schedule. */
export interface Schedule {
  /** The first time after `afterMs`; `undefined` for a schedule that never matches, such as February 31st. */
  next(afterMs: number): number | undefined
  /** The last time after `afterMs` and not after `nowMs`: the latest of all missed runs. */
  latest(afterMs: number, nowMs: number): number | undefined
}

/**
 * The schedule in `text`: five fields, a shorthand such as `@daily`, or an interval such as `@every 1h30m`.
 *
 * `timeZone` is a name of the time zone database; without one the schedule is in UTC.
 *
 * *Errors*: {@link CronSyntaxError} names the field and the problem.
 *
 * @example
 * parseSchedule('30 2 * * *', 'Europe/Vienna').next(Date.now())
 */
export function parseSchedule(text: string, timeZone?: string): Schedule {
  const every = /^@every\s+(\S+)$/i.exec(text.trim())
  if (every === null) return new CronSchedule(text, timeZone)
  const intervalMs = parseDuration(every[1]) ?? 0
  if (intervalMs < 1000 || !Number.isFinite(intervalMs)) {
    throw new CronSyntaxError(`schedule "${text}": "${every[1]}" is not a duration of a second or more`)
  }
  const fullSecond = (atMs: number) => Math.floor(atMs / 1000) * 1000
  return {
    next: (afterMs) => fullSecond(afterMs + intervalMs),
    latest: (afterMs, nowMs) => {
      const runs = Math.floor((nowMs - fullSecond(afterMs)) / intervalMs)
      return runs < 1 ? undefined : fullSecond(afterMs) + runs * intervalMs
    },
  }
}

/** A schedule in five fields. */
class CronSchedule implements Schedule {
  readonly #minutes: readonly number[]
  readonly #hours: readonly number[]
  readonly #days: ParsedField
  readonly #months: readonly number[]
  readonly #weekdays: ParsedField
  readonly #zone: Intl.DateTimeFormat | undefined

  constructor(text: string, timeZone?: string) {
    const fields = (SHORTHANDS.get(text.trim().toLowerCase()) ?? text).trim().split(/\s+/)
    if (fields.length !== FIELDS.length) {
      throw new CronSyntaxError(`schedule "${text}": expected 5 fields, found ${fields.length}`)
    }
    const [minutes, hours, days, months, weekdays] = FIELDS
    const at = (index: number, field: Field) => parseField(fields[index] ?? '', field, text)
    this.#minutes = at(0, minutes).values
    this.#hours = at(1, hours).values
    this.#days = at(2, days)
    this.#months = at(3, months).values
    this.#weekdays = at(4, weekdays)
    this.#zone = timeZone === undefined ? undefined : zoneFormat(timeZone, text)
  }

  next(afterMs: number): number | undefined {
    const today = this.#wallClock(afterMs)
    const startOfDay = Math.floor(today / DAY_MS) * DAY_MS
    for (let day = 0; day < HORIZON_DAYS; day++) {
      const dayMs = startOfDay + day * DAY_MS
      if (!this.#includesDay(new Date(dayMs))) continue
      for (const hour of this.#hours) {
        // Skips hours of today that have passed, with an hour of tolerance for clocks that are set back.
        if (dayMs + (hour + 2) * HOUR_MS <= today) continue
        for (const minute of this.#minutes) {
          const wallMs = dayMs + hour * HOUR_MS + minute * MINUTE_MS
          const atMs = this.#instant(wallMs)
          if (atMs !== undefined && atMs > afterMs) return atMs
        }
      }
    }
    return undefined
  }

  latest(afterMs: number, nowMs: number): number | undefined {
    const isDue = (fromMs: number) => (this.next(fromMs) ?? Number.POSITIVE_INFINITY) <= nowMs
    if (!isDue(afterMs)) return undefined
    // Later starts have later runs, so binary search finds the last start with a run that is due, even over years.
    let [due, notDue] = [afterMs, nowMs]
    while (notDue - due > 1) {
      const middle = Math.floor((due + notDue) / 2)
      if (isDue(middle)) due = middle
      else notDue = middle
    }
    return this.next(due)
  }

  #includesDay(date: Date): boolean {
    if (!this.#months.includes(date.getUTCMonth() + 1)) return false
    const isDay = this.#days.values.includes(date.getUTCDate())
    const isWeekday = this.#weekdays.values.includes(date.getUTCDay())
    return this.#days.isOpen || this.#weekdays.isOpen ? isDay && isWeekday : isDay || isWeekday
  }

  /** The local time of the zone at an instant, represented as if it were UTC. */
  #wallClock(instantMs: number): number {
    if (this.#zone === undefined) return instantMs
    const parts = Object.fromEntries(
      this.#zone.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }

  /** The instant of the local time `wallMs`; `undefined` if daylight saving time skips it. */
  #instant(wallMs: number): number | undefined {
    if (this.#zone === undefined) return wallMs
    let instantMs = wallMs - (this.#wallClock(wallMs) - wallMs)
    // The offset may have been different at that instant.
    instantMs -= this.#wallClock(instantMs) - wallMs
    return this.#wallClock(instantMs) === wallMs ? instantMs : undefined
  }
}

function zoneFormat(timeZone: string, schedule: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (cause) {
    throw new CronSyntaxError(`schedule "${schedule}": unknown time zone "${timeZone}"`, { cause })
  }
}

function parseField(text: string, field: Field, schedule: string): ParsedField {
  const values = new Set<number>()
  for (const part of text.split(',')) for (const value of parsePart(part, field, schedule)) values.add(value)
  return { values: [...values].sort((a, b) => a - b), isOpen: /^[*?]/.test(text) }
}

function parsePart(part: string, field: Field, schedule: string): number[] {
  const fail = (what: string) => new CronSyntaxError(`schedule "${schedule}": ${field.name} "${part}" ${what}`)
  const match = /^([*?]|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part)
  if (match === null) throw fail('is not a value, range or step')
  const [, first = '', last, step] = match
  const isOpen = first === '*' || first === '?'
  if (isOpen && last !== undefined) throw fail('is not a range')
  const from = isOpen ? field.min : parseValue(first, field)
  const openEnd = isOpen || step !== undefined ? field.max : from
  const to = last === undefined ? openEnd : parseValue(last, field)
  if (from === undefined || to === undefined) throw fail(`is not between ${field.min} and ${field.max}`)
  if (from > to) throw fail('ends before it begins')
  const stride = step === undefined ? 1 : Number(step)
  if (stride === 0) throw fail('has a step of 0')
  const values: number[] = []
  for (let value = from; value <= to; value += stride) values.push(value)
  return values
}

function parseValue(text: string, { min, max, names }: Field): number | undefined {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  if (named >= 0) return named + min
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}
