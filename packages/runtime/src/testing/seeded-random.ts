/** Chance that repeats: the same seed gives the same numbers, so that any run can be replayed. */

/**
 * A generator for what takes `random: () => number`; values are in [0, 1). Good enough for jitter and for the
 * choices of a simulation, never for secrets.
 *
 * @example
 * const random = seededRandom(42)
 * const delayMs = 1_000 * (1 + 0.1 * random())
 */
export function seededRandom(seed: number): () => number {
  // A counter run through the finalizer of MurmurHash3: every state is visited once, neighbours look unrelated.
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x85ebca6b)
    mixed ^= mixed >>> 13
    mixed = Math.imul(mixed, 0xc2b2ae35)
    mixed ^= mixed >>> 16
    return (mixed >>> 0) / 0x1_0000_0000
  }
}
