/** Which shard an object belongs to. */
import { formatKey, type ObjectKey } from '@reeve/kube'

/**
 * The shard of an object, from 0 to `shards` - 1: the same in every process and release, as replicas of two releases run
 * beside each other during an update. From its key alone, so that it never changes.
 *
 * A jump consistent hash: with one shard more, only the objects of the new shard move.
 *
 * @example
 * shardOf({ namespace: 'shop', name: 'web' }, 8)
 */
export function shardOf(key: ObjectKey, shards: number): number {
  const next = uniform(hash(formatKey(key)))
  let shard = 0
  // With n shards an object jumps to the n-th with probability 1/n: the next jump can be drawn directly.
  for (let jump = 0; jump < shards; jump = Math.floor((shard + 1) / next())) shard = jump
  return shard
}

/** FNV-1a on UTF-16 units, with a final mix, because similar names must not have similar sequences. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

/** Numbers above 0 and up to 1, from a Weyl sequence whose members are mixed. */
function uniform(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (((mixed ^ (mixed >>> 15)) >>> 0) + 1) / 2 ** 32
  }
}
