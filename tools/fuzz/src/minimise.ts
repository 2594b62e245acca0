/** Makes an input smaller while it still shows the same problem. */
import { withoutMember } from './json-mutations.ts'

/** Whether a smaller input still shows it. */
export type StillFails = (candidate: Uint8Array) => Promise<boolean>

/**
 * A smaller input with the same problem: whole members of JSON go first, then ever smaller pieces of the text. Ends
 * early, with the best so far, when `isOver` returns true.
 *
 * @example
 * const small = await minimise(input, async (candidate) => crashes(candidate), () => false)
 */
export async function minimise(input: Uint8Array, stillFails: StillFails, isOver: () => boolean): Promise<Uint8Array> {
  const withoutMembers = await removeMembers(Buffer.from(input), stillFails, isOver)
  return removePieces(withoutMembers, stillFails, isOver)
}

async function removeMembers(input: Buffer, stillFails: StillFails, isOver: () => boolean): Promise<Buffer> {
  let best = input
  // After a success the member indices change, but there are fewer of them.
  for (let index = 0; !isOver(); ) {
    const candidate = withoutMember(best.toString('utf8'), index)
    if (candidate === undefined) return best
    const bytes = Buffer.from(candidate)
    if (bytes.length < best.length && (await stillFails(bytes))) best = bytes
    else index += 1
  }
  return best
}

async function removePieces(input: Buffer, stillFails: StillFails, isOver: () => boolean): Promise<Buffer> {
  let best = input
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < best.length && !isOver(); ) {
      const candidate = Buffer.concat([best.subarray(0, start), best.subarray(start + size)])
      if (await stillFails(candidate)) best = candidate
      else start += size
    }
  }
  return best
}
