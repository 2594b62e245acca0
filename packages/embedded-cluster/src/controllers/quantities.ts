/** Resource quantities such as `250m` CPU or `1.5Gi` of memory, and percentages. */
import { parseQuantity, QuantityError, toNumber } from '../api/quantity.ts'
import type { IntOrPercent } from './kinds/meta.ts'

/** The quantity as a number; 0 for an invalid quantity, which the server would have rejected. */
export function amountOf(quantity: string | number | undefined): number {
  if (typeof quantity === 'number' || quantity === undefined) return quantity ?? 0
  try {
    return toNumber(parseQuantity(quantity))
  } catch (error) {
    if (error instanceof QuantityError) return 0
    throw error
  }
}

/** `3` is 3; `25%` is that share of `total`, rounded up or down. Anything else is 0. */
export function resolveIntOrPercent(value: IntOrPercent, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value
  const percent = /^(\d+)%$/.exec(value)
  if (percent === null) return 0
  const share = (Number(percent[1]) * total) / 100
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share)
}
