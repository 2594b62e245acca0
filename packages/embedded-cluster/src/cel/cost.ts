/** What work on values costs, in steps of the budget. */
import type { CelList, CelValue } from './values.ts'

/** The cost of reading a string, or of visiting the items of a list or map without looking into them. */
export function cost(value: CelValue): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length / 10
  if (Array.isArray(value)) return value.length
  return value instanceof Map ? value.size : 0
}

/** The cost of visiting everything in a value; anything above `limit` is not told apart. */
export function deepCost(value: CelValue, limit: number): number {
  let total = 1 + (typeof value === 'string' || value instanceof Uint8Array ? cost(value) : 0)
  const items = Array.isArray(value) ? value : value instanceof Map ? value.values() : []
  for (const item of items) {
    if (total > limit) return total
    total += deepCost(item, limit - total)
  }
  return total
}

/** The cost of comparing: as much as the smaller of the two has. Finding out takes no longer than comparing does. */
export function equalityCost(a: CelValue, b: CelValue): number {
  for (let limit = 16; ; limit *= 4) {
    const smaller = Math.min(deepCost(a, limit), deepCost(b, limit))
    if (smaller <= limit) return smaller
  }
}

/** The cost of comparing an item with every item of a list. */
export function searchCost(item: CelValue, list: CelList): number {
  return Math.max(1, list.length) * deepCost(item, Number.POSITIVE_INFINITY)
}

/** Shorter parts are found in time that grows with the text only. */
const SHORT_PART = 100

/** The cost of looking for a part in a text: at worst every character of one is compared with every one of the other. */
export function textSearchCost(text: string, part: string): number {
  return part.length <= SHORT_PART ? 0 : (Math.max(0, text.length - part.length) * part.length) / 100
}
