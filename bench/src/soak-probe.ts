/** Loaded first into the operator of the soak: responds to each message with what its process holds after a collection. */
import { setImmediate as nextTick } from 'node:timers/promises'

/** What a process holds when nothing is in progress. */
export interface ProbeReport {
  readonly heapBytes: number
  /** Memory of buffers, outside the heap. */
  readonly externalBytes: number
  /** What keeps the event loop alive, such as `Timeout` or `TCPSocketWrap`, by type. */
  readonly resources: Readonly<Record<string, number>>
}

async function report(): Promise<ProbeReport> {
  globalThis.gc?.()
  // Finalizers of what was collected run now, and what they held is collected next.
  await nextTick()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1
  return { heapBytes: heapUsed, externalBytes: external, resources }
}

process.on('message', () => void report().then((found) => process.send?.(found)))
// The channel alone does not keep the operator alive.
process.channel?.unref()
