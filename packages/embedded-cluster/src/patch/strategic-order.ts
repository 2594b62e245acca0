/** The order of a merged list. */
import type { JsonValue } from '../json.ts'

/**
 * Sorts `merged`: items in `order` are in that order, the others in the order of the live list. The two are interleaved
 * by the live list: an item that is not in `order` is placed before the first item in `order` that followed it there.
 */
export function arrangeList<T extends JsonValue>(
  merged: readonly T[],
  order: readonly JsonValue[],
  live: readonly JsonValue[],
  identity: (item: JsonValue) => string,
): T[] {
  const rank = ranks(order, identity)
  const livePosition = ranks(live, identity)
  const rankOf = (item: T): number => rank.get(identity(item)) ?? -1
  const positionOf = (item: T): number => livePosition.get(identity(item)) ?? -1
  const named = merged.filter((item) => rankOf(item) >= 0).sort((a, b) => rankOf(a) - rankOf(b))
  const others = merged.filter((item) => rankOf(item) < 0).sort((a, b) => positionOf(a) - positionOf(b))

  const arranged: T[] = []
  let next = 0
  for (const item of named) {
    for (let other = others[next]; other !== undefined && precedes(other, item); other = others[next]) {
      arranged.push(other)
      next++
    }
    arranged.push(item)
  }
  return [...arranged, ...others.slice(next)]

  function precedes(other: T, item: T): boolean {
    const position = positionOf(other)
    return position >= 0 && positionOf(item) > position
  }
}

function ranks(items: readonly JsonValue[], identity: (item: JsonValue) => string): Map<string, number> {
  const found = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const key = identity(item)
    if (!found.has(key)) found.set(key, index)
  }
  return found
}
