/** Bytes in the place of random ones: generated values of a plan are discarded, and two runs should print the same. */
import { createHash } from 'node:crypto'

/**
 * A source of bytes that are pseudo-random and the same in every run.
 *
 * @example
 * const bytes = repeatableBytes()
 * makeToken('dt0n01', bytes)
 */
export function repeatableBytes(): (count: number) => Uint8Array {
  let calls = 0
  return (count) => {
    calls += 1
    const blocks = Array.from({ length: Math.ceil(count / 32) }, (_, block) =>
      createHash('sha256').update(`${calls}.${block}`).digest(),
    )
    return Buffer.concat(blocks).subarray(0, count)
  }
}
