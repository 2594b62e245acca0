/** Deletes Events that nobody will look at any more, so that they do not pile up. */
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import type { ClusterObject } from './kinds/meta.ts'
import { ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'
import { parseTimestamp } from './timestamp.ts'

const KEY = 'expiry'

interface EventObject extends ClusterObject {
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly series?: { readonly lastObservedTime?: string | null } | null
}

function lastSeenMs({ metadata, lastTimestamp, eventTime, series }: EventObject): number {
  const times = [metadata.creationTimestamp, lastTimestamp, eventTime, series?.lastObservedTime]
  return Math.max(...times.map((time) => parseTimestamp(time ?? undefined) ?? 0))
}

/**
 * Keeps every Event for `ttlMs` after it was last seen. One timer waits for the oldest; without Events there is none.
 */
export function createEventExpiryController(context: ControllerContext, ttlMs: number): SimulatorController {
  const client = new ResourceClient<EventObject>(context.api, 'events')
  let isArmed = false
  return new Controller(context, {
    name: 'event-expiry',
    watches: {
      events: ({ type }, enqueue) => {
        // Whatever comes now expires after what the timer waits for.
        if (type !== 'ADDED' || isArmed) return
        isArmed = true
        enqueue(KEY)
      },
    },
    reset: () => {
      isArmed = false
    },
    async reconcile(_key, signal) {
      const nowMs = context.clock.now()
      let nextMs = Number.POSITIVE_INFINITY
      for (const event of client.list()) {
        signal.throwIfAborted()
        const expiresMs = lastSeenMs(event) + ttlMs
        if (expiresMs <= nowMs) await client.delete(event)
        else nextMs = Math.min(nextMs, expiresMs)
      }
      isArmed = Number.isFinite(nextMs)
      return isArmed ? nextMs - nowMs : undefined
    },
  })
}
