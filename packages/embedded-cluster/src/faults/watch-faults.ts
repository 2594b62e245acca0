/** Applies watch faults to an event stream, counted in events. */
import { expired } from '../api/api-errors.ts'
import { errorLine } from '../rest/watch.ts'
import { ConnectionReset, type Fault } from './fault.ts'

/** Faults that act on an open stream. */
export type WatchFault = Extract<Fault, { readonly afterEvents: number }>

/** Whether a fault acts on the stream instead of the request. */
export function isWatchFault(fault: Fault | undefined): fault is WatchFault {
  return fault !== undefined && 'afterEvents' in fault
}

/** `body` with the fault applied. */
export async function* applyWatchFault(
  body: AsyncIterable<Uint8Array>,
  fault: WatchFault,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let seen = 0
  if (fault.afterEvents === 0 && fault.kind !== 'watch-gap') {
    yield* trigger(fault, signal)
    return
  }
  for await (const line of lines(body)) {
    seen += 1
    const isLost = fault.kind === 'watch-gap' && seen > fault.afterEvents && seen <= fault.afterEvents + fault.count
    if (!isLost) yield line
    if (seen >= fault.afterEvents && fault.kind !== 'watch-gap') {
      yield* trigger(fault, signal)
      return
    }
  }
}

async function* trigger(fault: WatchFault, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (fault.kind === 'watch-silence') {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
  } else if (fault.kind === 'watch-end') {
    if (fault.how === 'reset') throw new ConnectionReset('while watching')
    if (fault.how === 'expired') yield errorLine(expired('too old resource version: 1 (2)'))
  }
}

/** Splits at newlines: a chunk may contain several events, but an event is never split across chunks. */
async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield chunk.subarray(start, end + 1)
      start = end + 1
    }
  }
}
