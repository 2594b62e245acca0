/** What work on values costs, in steps of the budget. */
import { type CelList, CelOptional, type CelValue } from './values.ts'

/** The cost of reading a string, or of visiting the items of a list or map without looking into them. */
export function cost(value: CelValue): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length / 10
  if (Array.isArray(value)) return value.length
  return value instanceof Map ? value.size : 0
}

/** The cost of visiting everything in a value; anything above `limit` is not distinguished. */
export function deepCost(value: CelValue, limit: number): number {
  let total = 1 + (typeof value === 'string' || value instanceof Uint8Array ? cost(value) : 0)
  for (const item of itemsIn(value)) {
    if (total > limit) return total
    total += deepCost(item, limit - total)
  }
  return total
}

function itemsIn(value: CelValue): Iterable<CelValue> {
  if (Array.isArray(value)) return value
  if (value instanceof Map) return value.values()
  return value instanceof CelOptional && value.value !== undefined ? [value.value] : []
}

/**
 * The cost of comparing: as much as the smaller of the two has; anything above `max` is not distinguished. Finding out
 * takes no longer than comparing does.
 */
export function equalityCost(a: CelValue, b: CelValue, max: number): number {
  for (let limit = 16; ; limit *= 4) {
    const smaller = Math.min(deepCost(a, limit), deepCost(b, limit))
    // Lists that hold the same list many times are larger than anything that is stored.
    if (smaller <= limit || limit > max) return smaller
  }
}

/** The cost of comparing an item with every item of a list; anything above `max` is not distinguished. */
export function searchCost(item: CelValue, list: CelList, max: number): number {
  return Math.max(1, list.length) * deepCost(item, max)
}

/** Shorter parts are found in time that grows with the text only. */
const SHORT_PART = 100

/**
 * The cost of searching for a part in a text: at worst every character of one is compared with every one of the other.
 */
export function textSearchCost(text: string, part: string): number {
  return part.length <= SHORT_PART ? 0 : (Math.max(0, text.length - part.length) * part.length) / 100
}
