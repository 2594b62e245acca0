/** Resource quantities such as `250m` CPU or `1.5Gi` of memory, and percentages. */
import type { IntOrPercent } from './kinds/meta.ts'

const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** The quantity as a number; 0 for an invalid quantity, which the server would have rejected. */
export function parseQuantity(quantity: string | number | undefined): number {
  if (typeof quantity === 'number') return quantity
  const match = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(quantity ?? '')
  const factor = FACTORS[match?.[2] ?? '']
  return factor === undefined || match?.[1] === undefined ? 0 : Number(match[1]) * factor
}

/** `3` is 3; `25%` is that share of `total`, rounded up or down. Anything else is 0. */
export function resolveIntOrPercent(value: IntOrPercent, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value
  const percent = /^(\d+)%$/.exec(value)
  if (percent === null) return 0
  const share = (Number(percent[1]) * total) / 100
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share)
}
