/** Reads values out of annotations, which are always text: what cannot be read counts as not given. */

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

/** Yes or no, in one of the twelve accepted spellings. */
export function parseBoolean(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (TRUE.has(text)) return true
  return FALSE.has(text) ? false : undefined
}

/** A whole decimal number. */
export function parseInteger(text: string | undefined): number | undefined {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}
const PART = /([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)/gy

/** A duration such as `1h30m` in milliseconds; a number without a unit is invalid, except 0. */
export function parseDurationMs(text: string | undefined): number | undefined {
  const [, sign, rest] = /^([+-]?)(.+)$/s.exec(text ?? '') ?? []
  if (rest === undefined) return undefined
  if (rest === '0') return 0
  let total = 0
  let end = 0
  for (const [part, amount, unit] of rest.matchAll(PART)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN)
    end += part.length
  }
  if (end !== rest.length || !Number.isFinite(total)) return undefined
  return sign === '-' ? -total : total
}

/** A list of texts as JSON; `null` is the empty list. */
export function parseTextList(text: string | undefined): readonly string[] | undefined {
  const value = parseJson(text)
  if (value === null) return []
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}

/** Yes or no as JSON; `null` is no. */
export function parseJsonBoolean(text: string | undefined): boolean | undefined {
  const value = parseJson(text)
  if (value === null) return false
  return typeof value === 'boolean' ? value : undefined
}

function parseJson(text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    // A typo counts as not set, as for every other flag.
    return undefined
  }
}
