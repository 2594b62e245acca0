/** Timestamps, durations and delays. */
import type { RequeueAfterMs } from './control-loop.ts'

/** Milliseconds since the epoch; `undefined` for no timestamp. */
export function parseTimestamp(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Milliseconds of `250ms`, `30s`, `1m30s` or `forever`; `undefined` for anything else. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (text === 'forever') return Number.POSITIVE_INFINITY
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined
  let totalMs = 0
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
    totalMs += Number(amount) * (UNITS[unit ?? ''] ?? 0)
  }
  return totalMs
}

/** The shortest of the delays; `undefined` if there is none. */
export function earliest(delaysMs: readonly RequeueAfterMs[]): RequeueAfterMs {
  const known = delaysMs.filter((delayMs) => delayMs !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
