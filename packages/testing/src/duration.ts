/** Durations as tests write them. */

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds, or text such as `30s`, `5m`, `1h`. */
export type Duration = number | `${number}${keyof typeof UNITS}`

/**
 * The duration in milliseconds.
 *
 * *Errors*: a `TypeError` for text that is not a duration.
 *
 * @example
 * milliseconds('1.5h') // 5_400_000
 */
export function milliseconds(duration: Duration): number {
  if (typeof duration === 'number') return duration
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) ?? []
  if (amount === undefined) throw new TypeError(`"${duration}" is no duration: write it as 30s, 5m or 1h`)
  return Number(amount) * UNITS[unit as keyof typeof UNITS]
}

/** `1h`, `90s`: the largest unit that needs no fraction. */
export function describeDuration(ms: number): string {
  const units = Object.entries(UNITS).toReversed()
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}
