/** Lengths of time as people write them. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Milliseconds of `250ms`, `30s`, `1m30s` or `forever`; nothing for anything else. */
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
