/** Formats of times and bytes in JSON: what is accepted, and the canonical form that is stored. */

/** A value that cannot be decoded; the message is that of the API server's decoder. */
export class DecodeError extends Error {
  readonly code = 'DecodeError'

  constructor(message: string) {
    super(message)
    this.name = 'DecodeError'
  }
}

const SECONDS_LAYOUT = '2006-01-02T15:04:05Z07:00'
const MICROS_LAYOUT = '2006-01-02T15:04:05.000000Z07:00'

/** The parts of the layouts, with the patterns that match them. */
const timeParts: readonly (readonly [layout: string, pattern: RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d?/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d/],
  ['fraction', /^/],
  ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/],
]

/**
 * A time in UTC: with seconds, or with microseconds for the types that keep them. The zero time has no text.
 *
 * *Errors*: `DecodeError` when `text` is not an RFC 3339 time; microseconds require exactly six digits.
 */
export function canonicalTime(text: string, isMicro: boolean): string | null {
  if ((isMicro ? canonicalMicroForm : canonicalForm).test(text)) return text
  const layout = isMicro && text !== '' ? MICROS_LAYOUT : SECONDS_LAYOUT
  const [year, month, day, hour, minute, second, fraction, zone] = splitTime(text, layout)
  const range = (isInRange: boolean, what: string) => {
    if (!isInRange) throw new DecodeError(`parsing time ${JSON.stringify(text)}: ${what} out of range`)
  }
  range(Number(month) >= 1 && Number(month) <= 12, 'month')
  range(Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month)), 'day')
  range(Number(hour) <= 23, 'hour')
  range(Number(minute) <= 59, 'minute')
  range(Number(second) <= 59, 'second')
  const [offsetHours, offsetMinutes] = zone === 'Z' ? [0, 0] : zone.slice(1).split(':').map(Number)
  range((offsetHours ?? 0) <= 24, 'time zone offset hour')
  range((offsetMinutes ?? 0) <= 60, 'time zone offset minute')
  const offsetMs = ((offsetHours ?? 0) * 60 + (offsetMinutes ?? 0)) * 60_000 * (zone.startsWith('-') ? -1 : 1)
  const local = new Date(0)
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  local.setUTCHours(Number(hour), Number(minute), Number(second))
  return formatTime(Math.floor((local.getTime() - offsetMs) / 1000), isMicro ? fraction.slice(1) : undefined)
}

/** Fast path for times in the server's own format; times at the end of a month use the full parser. */
const canonicalForm = /^(?!0001)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/
const canonicalMicroForm = new RegExp(canonicalForm.source.replace('Z$', '\\.\\d{6}Z$'))

/** Formats a time in seconds since 1970; `null` for the zero time, which is in year 1. */
export function formatTime(seconds: number, micros: string | undefined): string | null {
  const zeroTime = -62_135_596_800
  if (seconds === zeroTime && Number(micros ?? 0) === 0) return null
  const text = new Date(seconds * 1000).toISOString().slice(0, -5)
  return micros === undefined ? `${text}Z` : `${text}.${micros.padEnd(6, '0')}Z`
}

type TimeParts = [string, string, string, string, string, string, string, string]

function splitTime(text: string, layout: string): TimeParts {
  let rest = text
  const values: string[] = []
  for (const [part, pattern] of timeParts) {
    if (part === 'fraction') {
      const fraction = readFraction(text, rest, layout)
      values.push(fraction)
      rest = rest.slice(fraction.length)
      continue
    }
    const value = pattern.exec(rest)?.[0]
    if (value === undefined) throw cannotParse(text, layout, rest, part)
    if (/\d|Z/.test(part)) values.push(value)
    rest = rest.slice(value.length)
  }
  if (rest !== '') throw new DecodeError(`parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`)
  // One value per part that is not a separator.
  return values as TimeParts
}

function readFraction(text: string, rest: string, layout: string): string {
  if (layout === SECONDS_LAYOUT) return /^[.,]\d+/.exec(rest)?.[0] ?? ''
  const fraction = /^\.\d{6}/.exec(rest)?.[0]
  if (fraction === undefined) throw cannotParse(text, layout, rest, '.000000')
  return fraction
}

function cannotParse(text: string, layout: string, rest: string, part: string): DecodeError {
  const subject = `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}`
  return new DecodeError(`${subject}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`)
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
}

/** Bytes in the standard alphabet with padding; line breaks are dropped. Throws `DecodeError` for anything else. */
export function canonicalBase64(text: string): string {
  if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    // Unused bits before the padding may be set; the stored form has them cleared.
    return text.endsWith('=') ? Buffer.from(text, 'base64').toString('base64') : text
  }
  const compact = text.replace(/[\r\n]/g, '')
  if (compact !== text) return canonicalBase64(compact)
  throw new DecodeError(`illegal base64 data at input byte ${firstIllegalByte(text)}`)
}

function firstIllegalByte(text: string): number {
  const valid = /^[A-Za-z0-9+/]*/.exec(text)?.[0].length ?? 0
  const quantum = valid % 4
  const padding = /^=*/.exec(text.slice(valid))?.[0].length ?? 0
  const isEnd = valid + padding === text.length
  if (padding === 0) return isEnd ? valid - quantum : valid
  const needed = quantum === 2 ? 2 : quantum === 3 ? 1 : 0
  if (needed === 0) return valid
  return padding < needed ? valid + padding : valid + needed
}
