/** Numbers that may be given as a share of a whole. */
import type { IntOrPercent } from './kinds/meta.ts'

/** `3` is 3; `25%` is that share of `total`, rounded up or down. Anything else is 0. */
export function resolveIntOrPercent(value: IntOrPercent, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value
  const percent = /^(\d+)%$/.exec(value)
  if (percent === null) return 0
  const share = (Number(percent[1]) * total) / 100
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share)
}
