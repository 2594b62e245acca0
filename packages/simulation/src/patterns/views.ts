/** T3 to T6: what the operator sees is old, late or incomplete. */
import { seededRandom } from '@reeve/runtime/testing'
import { DELIVER, type EventFate, PASS, type SeamEvent, type SeamRequest } from '../world/disturbance.ts'
import { describeRequest, isBookkeeping } from '../world/request-facts.ts'
import { describeEvent } from '../world/seam.ts'
import { objectsOf } from '../world/targets.ts'
import type { Pattern, PatternContext, Point, PointOutcome } from './pattern.ts'

/** How long an old view lasts. */
const FROZEN_MS = 20_000

/**
 * T3, in two forms: the operator starts again at event m against an API server that still shows one kind as it was at
 * event k; or it goes on running while the view of one kind stands still.
 */
export const timeTravel: Pattern = {
  id: 'T3',
  title: 'time travel',
  coverage: 'sampled',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const seen = world.events.filter(({ type }) => type !== 'BOOKMARK')
    const restart = ([past, present]: readonly [SeamEvent, SeamEvent]): Point => ({
      label: `restarted at event ${present.index} (${describeEvent(present)}) on ${past.resource} as of event ${past.index}`,
      run: () => restartedOnThePast(context, past, present),
    })
    const pairs = seen.flatMap((past, index) => seen.slice(index + 1).map((present) => [past, present] as const))
    const freezes = seen.map(
      (event): Point => ({
        label: `${event.resource} frozen at event ${event.index} (${describeEvent(event)})`,
        run: () => frozenView(context, event),
      }),
    )
    const budget = Math.ceil(context.budget / 2)
    // Every deletion with a later re-creation is tried; the rest is drawn from what is left.
    const reborn = incarnations(seen)
    const others = pairs.filter((pair) => !reborn.some(([past, present]) => past === pair[0] && present === pair[1]))
    return [
      ...reborn.map(restart),
      ...sample(others, { ...context, budget }).map(restart),
      ...sample(freezes, { ...context, budget }),
    ]
  },
}

/** For each object that was deleted and made again: how it was seen last, and the first events of its next life. */
function incarnations(seen: readonly SeamEvent[]): readonly (readonly [SeamEvent, SeamEvent])[] {
  const isSame = (one: SeamEvent, other: SeamEvent) =>
    describeEvent({ ...one, type: '' }) === describeEvent({ ...other, type: '' })
  return seen.flatMap((deleted, at) => {
    if (deleted.type !== 'DELETED') return []
    const before = seen.slice(0, at).findLast((event) => isSame(event, deleted))
    const rebirth = seen.findIndex((event, index) => index > at && event.type === 'ADDED' && isSame(event, deleted))
    if (before === undefined || rebirth < 0) return []
    return seen.slice(rebirth, rebirth + 3).map((present) => [before, present] as const)
  })
}

function restartedOnThePast(context: PatternContext, past: SeamEvent, present: SeamEvent): Promise<PointOutcome> {
  return context.disturbed('alone', {
    extraDeletes: 0,
    disturb: ({ world, crash, fault }) => {
      let until = 0
      return {
        onRequest: ({ resource }) => {
          const { resourceVersion } = past
          if (resource !== past.resource || world.elapsedMs >= until || resourceVersion === undefined) return PASS
          return { type: 'past', resourceVersion }
        },
        onEvent: ({ index, instance }) => {
          if (index !== present.index) return DELIVER
          fault(`an API server that has fallen behind shows ${past.resource} as of ${past.resourceVersion}`, FROZEN_MS)
          until = world.elapsedMs + FROZEN_MS
          crash(instance)
          return DELIVER
        },
      }
    },
  })
}

function frozenView(context: PatternContext, event: SeamEvent): Promise<PointOutcome> {
  return context.disturbed('alone', {
    extraDeletes: 0,
    disturb: ({ world, fault }) => ({
      onEvent: ({ index, resource }) => {
        if (index !== event.index) return DELIVER
        fault(`the view of ${resource} is frozen`, FROZEN_MS)
        world.cluster.faults.freeze(resource)
        world.clock.schedule(FROZEN_MS, () => {
          fault(`the view of ${resource} moves again`)
          world.cluster.faults.thaw(resource)
        })
        return DELIVER
      },
    }),
  })
}

/** How late the event of an own write comes. Zero is the undisturbed run. */
const LATE = [
  { name: 'after one more reconcile', delayMs: 1_000, isProvoked: true },
  { name: '10 s late', delayMs: 10_000, isProvoked: false },
] as const

/** T4: the operator acts while its own write is not visible yet. */
export const ownWriteNotSeen: Pattern = {
  id: 'T4',
  title: 'own write not yet seen',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const writes = world.requests.filter(({ isWrite, resource }) => isWrite && !isBookkeeping(resource))
    return writes.flatMap((write) =>
      LATE.map((late) => ({
        label: `the event of request ${write.index} (${describeRequest(write)}) comes ${late.name}`,
        run: () => eventComesLate(context, write, late),
      })),
    )
  },
}

function eventComesLate(
  context: PatternContext,
  write: SeamRequest,
  { name, delayMs, isProvoked }: (typeof LATE)[number],
): Promise<PointOutcome> {
  const primary = context.operator.crds[0]?.name ?? ''
  return context.disturbed('alone', {
    disturb: ({ world, fault, problem }) => {
      let isArmed = false
      return {
        onRequest: ({ index }) => {
          if (index === write.index) isArmed = true
          return PASS
        },
        onEvent: (event) => {
          const isIts = event.resource === write.resource && event.name === write.name
          if (!isArmed || !isIts) return DELIVER
          isArmed = false
          fault(`${describeEvent(event)} comes ${name}`, delayMs)
          // A touch of what is declared makes the operator look at it once while the event is held back.
          for (const target of isProvoked ? objectsOf(world, primary) : []) {
            world.foreign.mark(world, target).catch((error: unknown) => problem(String(error)))
          }
          return { type: 'delay', delayMs }
        },
      }
    },
  })
}

/** T5: whatever happens within half a minute is never seen; a relist shows only how it ended. */
export const unseenStates = eventPattern('T5', 'unseen states', 'is lost with all that follows for 30 s, then 410', {
  type: 'stall-and-expire',
  stallMs: 30_000,
})

/** T6: the server forgets its history after each event. */
export const relistAnywhere = eventPattern('T6', 'relist at every point', 'is followed by 410', { type: 'expire' })

function eventPattern(id: 'T5' | 'T6', title: string, what: string, fate: EventFate): Pattern {
  return {
    id,
    title,
    coverage: 'exhaustive',
    async points(context) {
      const { world } = await context.undisturbed('alone')
      return world.events.map((event): Point => {
        const label = `event ${event.index} (${describeEvent(event)}) ${what}`
        return {
          label,
          run: () =>
            context.disturbed('alone', {
              disturb: ({ fault }) => ({
                onEvent: ({ index }) => {
                  if (index !== event.index) return DELIVER
                  fault(label, fate.type === 'stall-and-expire' ? fate.stallMs : 0)
                  return fate
                },
              }),
            }),
        }
      })
    },
  }
}

/** As many as the budget allows, drawn without putting back; the same for the same seed. */
export function sample<T>(all: readonly T[], { seed, budget }: Pick<PatternContext, 'seed' | 'budget'>): readonly T[] {
  const random = seededRandom(seed)
  const rest = [...all]
  const drawn: T[] = []
  while (drawn.length < budget && rest.length > 0) {
    drawn.push(...rest.splice(Math.floor(random() * rest.length), 1))
  }
  return drawn
}
