/** What the operator sees of one kind is old: it starts again on an old view, or its view stands still. */
import type { Problem } from '../judge/problem.ts'
import type { RunControl } from '../run/run-options.ts'
import { DELIVER, type Disturbance, type SeamEvent } from '../world/disturbance.ts'
import { describeEvent } from '../world/seam.ts'
import { type Fault, type Pattern, type PatternContext, type Point, pointOf } from './pattern.ts'
import { eventShape } from './shapes.ts'
import { StaleReads, viewFillingLists } from './stale-reads.ts'

/** How long an old view lasts. */
const FROZEN_MS = 20_000

/** After how many later events an old view is shown: the next ones, and the last. */
const NEXT_EVENTS = 2

/**
 * Two forms: the operator starts again at event m and sees one kind as it was at event k; or it keeps running while
 * its view of one kind stands still.
 */
export const staleView: Pattern = {
  name: 'stale-view',
  title: 'an old view of one kind',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const seen = world.log.events.filter(({ type }) => type !== 'BOOKMARK')
    const filling = viewFillingLists(world.log.requests)
    return [
      ...restartPairs(seen).map((pair) => restartPoint(context, pair, filling)),
      ...seen.map((event) => pointOf(context, frozenAt(event))),
    ]
  },
}

/** The event up to which the old view goes, and the event at which the operator starts again. */
type Pair = readonly [past: SeamEvent, present: SeamEvent]

/**
 * For each event: a view that misses one later event of its kind, two, and all that follow; and, for an object that was
 * deleted and created again, a view of its earlier incarnation at the first events of its next one.
 */
function restartPairs(seen: readonly SeamEvent[]): readonly Pair[] {
  const pairs = seen.flatMap((past, at): readonly Pair[] => {
    const later = seen.slice(at + 1).filter(({ resource }) => resource === past.resource)
    const presents = [...later.slice(0, NEXT_EVENTS), ...(later.length > 0 ? seen.slice(-1) : [])]
    return [...new Set(presents)].map((present) => [past, present])
  })
  const known = new Set(pairs.map(([past, present]) => `${past.index} ${present.index}`))
  const reborn = incarnations(seen).filter(([past, present]) => !known.has(`${past.index} ${present.index}`))
  return [...reborn, ...pairs]
}

/** For each object that was deleted and created again: how it was seen last, and the first events of its next life. */
function incarnations(seen: readonly SeamEvent[]): readonly Pair[] {
  const isSame = (one: SeamEvent, other: SeamEvent) =>
    describeEvent({ ...one, type: '' }) === describeEvent({ ...other, type: '' })
  return seen.flatMap((deleted, at) => {
    if (deleted.type !== 'DELETED') return []
    const before = seen.slice(0, at).findLast((event) => isSame(event, deleted))
    const rebirth = seen.findIndex((event, index) => index > at && event.type === 'ADDED' && isSame(event, deleted))
    if (before === undefined || rebirth < 0) return []
    return seen.slice(rebirth, rebirth + 3).map((present): Pair => [before, present])
  })
}

/**
 * A restart alone may make something outside unusable, such as a record whose credentials were lost: what is removed by
 * an operator that starts again on a current view as well is not because of the old one.
 */
function restartPoint(context: PatternContext, pair: Pair, filling: ReadonlySet<string>): Point {
  const fault = restartOnThePast(pair, filling)
  return {
    label: fault.label,
    shape: fault.shape,
    run: async () => {
      const outcome = await pointOf(context, fault).run()
      if (!outcome.problems.some(isRemoval)) return outcome
      const alone = await pointOf(context, restarted(pair)).run()
      const usual = new Set(alone.problems.map(({ message }) => message))
      const problems = outcome.problems.filter((found) => !isRemoval(found) || !usual.has(found.message))
      return { ...outcome, problems }
    },
  }
}

function isRemoval({ kind }: Problem): boolean {
  return kind === 'removed-outside'
}

/** The same restart on a view that is current. */
function restarted([past, present]: Pair): Fault {
  return {
    ...restartOnThePast([past, present], new Set()),
    disturb: ({ replace }) => ({
      onEvent: ({ index, instance }) => {
        if (index === present.index) replace(instance)
        return DELIVER
      },
    }),
  }
}

function restartOnThePast([past, present]: Pair, filling: ReadonlySet<string>): Fault {
  const from = eventShape(past)
  const at = eventShape(present)
  return {
    label: `restarted at event ${present.index} (${describeEvent(present)}) on ${past.resource} as of event ${past.index} (${describeEvent(past)})`,
    shape: { coarse: `restart ${from.coarse} at ${at.coarse}`, fine: `${from.fine} at ${at.fine}` },
    mode: 'alone',
    options: { extraDeletes: 0, extraRemovals: 0 },
    disturb: ({ world, replace, fault }) => {
      const stale = new StaleReads(world, { resource: past.resource, filling, lastsMs: FROZEN_MS, onEffect: fault })
      return {
        onRequest: (request) => stale.onRequest(request),
        onResponse: (request) => stale.onResponse(request),
        onEvent: ({ index, instance }) => {
          if (index !== present.index) return DELIVER
          replace(instance)
          stale.begin(Number(past.resourceVersion))
          return DELIVER
        },
      }
    },
  }
}

function frozenAt(event: SeamEvent): Fault {
  return {
    label: `the view of ${event.resource} stands still at event ${event.index} (${describeEvent(event)})`,
    shape: eventShape(event, 'stands still'),
    mode: 'alone',
    options: { extraDeletes: 0, extraRemovals: 0 },
    disturb: (control) => freezeAt(event, control),
  }
}

function freezeAt(event: SeamEvent, { world, fault, note }: RunControl): Disturbance {
  let isFrozen = false
  let isNoted = false
  world.cluster.api.subscribe(({ resource }) => {
    if (!isFrozen || isNoted || resource !== event.resource) return
    isNoted = true
    fault(`a change of ${resource} is not seen`, FROZEN_MS)
  })
  return {
    onEvent: ({ index, resource }) => {
      if (index !== event.index) return DELIVER
      note(`the view of ${resource} stands still`)
      isFrozen = true
      world.cluster.faults.freeze(resource)
      world.clock.schedule(FROZEN_MS, () => {
        isFrozen = false
        world.cluster.faults.thaw(resource)
      })
      return DELIVER
    },
  }
}
