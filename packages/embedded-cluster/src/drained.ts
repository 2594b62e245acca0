/** Backpressure of streams. */
import type { Writable } from 'node:stream'

/** Resolves when a stream takes more data, or never will. */
export async function drained(stream: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = () => {
      stream.off('drain', finish).off('close', finish)
      resolve()
    }
    stream.on('drain', finish).on('close', finish)
  })
}
