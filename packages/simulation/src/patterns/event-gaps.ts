/** Events that are lost, and lists that take the place of events: reconciles must be level-triggered. */
import {
  DELIVER,
  type EventFate,
  PASS,
  type RequestFate,
  type SeamEvent,
  type SeamRequest,
} from '../world/disturbance.ts'
import { selectionId } from '../world/request-facts.ts'
import { describeEvent } from '../world/seam.ts'
import { type Pattern, pointOf } from './pattern.ts'
import type { PatternName } from './pattern-names.ts'
import { eventShape } from './shapes.ts'

/** Events of half a minute are never seen; a relist shows only the result. */
export const unseenStates = eventPattern('unseen-states', {
  title: 'events are lost',
  what: 'is lost with all that follows for 30 s, then 410',
  fate: { type: 'stall-and-expire', stallMs: 30_000 },
})

/** The server discards its history after each event. */
export const relist = eventPattern('relist', {
  title: '410 after an event',
  what: 'is followed by 410',
  fate: { type: 'expire' },
})

interface EventFault {
  readonly title: string
  /** What happens to the event. */
  readonly what: string
  readonly fate: EventFate
}

function eventPattern(name: PatternName, { title, what, fate }: EventFault): Pattern {
  return {
    name,
    title,
    coverage: 'exhaustive',
    async points(context) {
      const { world } = await context.undisturbed('alone')
      return world.log.events.map((event) => {
        const label = `event ${event.index} (${describeEvent(event)}) ${what}`
        return pointOf(context, {
          label,
          shape: eventShape(event),
          mode: 'alone',
          options: { extraRemovals: 0 },
          disturb: ({ fault }) => {
            const history = new ForgottenHistory(event)
            return {
              onEvent: ({ index }) => {
                if (index !== event.index) return DELIVER
                fault(label, fate.type === 'stall-and-expire' ? fate.stallMs : 0)
                history.forget()
                return fate
              },
              onRequest: (request) => history.onRequest(request),
            }
          },
        })
      })
    },
  }
}

/** A server that discarded its history rejects every watch from an old version, until there was a list. */
class ForgottenHistory {
  readonly #event: SeamEvent
  #isForgotten = false

  constructor(event: SeamEvent) {
    this.#event = event
  }

  forget(): void {
    this.#isForgotten = true
  }

  onRequest(request: SeamRequest): RequestFate {
    if (!this.#isForgotten || request.instance !== this.#event.instance) return PASS
    if (selectionId(request) !== this.#event.selection) return PASS
    const goesOn = request.verb === 'watch' && !['', '0', undefined].includes(request.resourceVersion)
    if (goesOn) return { type: 'reject', code: 410, reason: 'Expired' }
    if (request.verb === 'list' || request.verb === 'watch') this.#isForgotten = false
    return PASS
  }
}
