/** How many shards each replica should hold, and where it begins to look for free ones. */

/** The part of one replica. */
export interface FairShare {
  readonly count: number
  /** The first shard that it would hold if all replicas took theirs in order, so that they do not compete. */
  readonly first: number
}

/**
 * Divides `shards` among `members`: counts differ by one at most, and add up. Every replica computes the same from the same
 * members, in any order.
 *
 * @example
 * fairShare(5, ['b', 'a'], 'a') // { count: 3, first: 0 }
 */
export function fairShare(shards: number, members: Iterable<string>, self: string): FairShare {
  const ranked = [...new Set([...members, self])].toSorted()
  const rank = ranked.indexOf(self)
  const least = Math.floor(shards / ranked.length)
  const larger = shards % ranked.length
  return { count: least + (rank < larger ? 1 : 0), first: rank * least + Math.min(rank, larger) }
}
