/** The second of two faults. What follows the first differs from any other run, so it is found by shape, not by number. */
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import type { RunControl } from '../run/run-options.ts'
import { DELIVER, type Disturbance, PASS, type RequestFate, type SeamRequest } from '../world/disturbance.ts'
import { describeRequest, isBookkeeping, objectId } from '../world/request-facts.ts'
import { describeEvent } from '../world/seam.ts'
import type { PatternContext } from './pattern.ts'
import { requestShape } from './shapes.ts'
import { StaleReads, viewFillingLists } from './stale-reads.ts'

/** A fault that is ready to strike. */
export interface Strike {
  /** Called when the first fault has struck. */
  begin?(): void
  /** Active from then on. */
  readonly disturbance: Disturbance
}

/** What happens next. */
export interface SecondFault {
  readonly kind: 'crash' | 'failed-request' | 'stale-view' | 'late-own-write'
  readonly label: string
  readonly shape: string
  /** The coarse shape of the request at which it strikes; `undefined` when it strikes at an instance that starts. */
  readonly at: string | undefined
  prepare(control: RunControl): Strike
}

/** Faults last at most this long: a rest begins only afterwards. */
const AFTERMATH_MS = 60_000
const LOSE = { type: 'lose' } as const
const FROZEN_MS = 20_000
const LATE_MS = 10_000

const FAILURES: readonly { readonly name: string; readonly fate: RequestFate; readonly isForReads: boolean }[] = [
  { name: '409', fate: { type: 'reject', code: 409, reason: 'Conflict' }, isForReads: false },
  { name: '500', fate: { type: 'reject', code: 500, reason: 'InternalError' }, isForReads: true },
]

/** One of each kind for every shape of request, and for every kind of object that is watched. */
export async function secondFaults(context: PatternContext): Promise<readonly SecondFault[]> {
  const { world } = await context.undisturbed('alone')
  const requests = world.log.requests.filter(({ resource }) => resource !== '' && !isBookkeeping(resource))
  const shapes = [...new Map(requests.map((request) => [requestShape(request).coarse, request])).values()]
  const writes = shapes.filter(({ isWrite }) => isWrite)
  const watched = new Set(requests.filter(({ verb }) => verb === 'watch').map(({ resource }) => resource))
  const filling = viewFillingLists(world.log.requests)
  return [
    ...writes.map(crashAtNext),
    ...shapes.flatMap((shape) =>
      FAILURES.filter(({ isForReads }) => shape.isWrite || isForReads).map((failure) => failureOfNext(shape, failure)),
    ),
    ...writes.map(lostResponseOfNext),
    ...[...watched].map((resource) => staleViewOf(resource, filling)),
    ...writes.filter(({ resource }) => watched.has(resource)).map(lateEventOfNext),
  ]
}

/** Strikes at the first request of a shape. */
function onceAt(shape: SeamRequest): (request: SeamRequest) => boolean {
  const { coarse } = requestShape(shape)
  let isOver = false
  return (request) => {
    if (isOver || requestShape(request).coarse !== coarse) return false
    isOver = true
    return true
  }
}

function crashAtNext(shape: SeamRequest): SecondFault {
  const { coarse } = requestShape(shape)
  return {
    kind: 'crash',
    at: coarse,
    label: `killed again after the next ${coarse}, before its response arrives`,
    shape: coarse,
    prepare: ({ crash }) => {
      const isIt = onceAt(shape)
      const onResponse = (request: SeamRequest) => {
        if (!isIt(request)) return DELIVER
        crash(request.instance)
        return { type: 'lose' } as const
      }
      return { disturbance: { onResponse } }
    },
  }
}

function failureOfNext(shape: SeamRequest, { name, fate }: (typeof FAILURES)[number]): SecondFault {
  const { coarse } = requestShape(shape)
  return {
    kind: 'failed-request',
    at: shape.verb === 'list' || shape.verb === 'watch' ? undefined : coarse,
    label: `the next ${coarse} fails with ${name}`,
    shape: `${coarse} ${name}`,
    prepare: ({ fault }) => {
      const isIt = onceAt(shape)
      const onRequest = (request: SeamRequest) => {
        if (!isIt(request)) return PASS
        fault(`${describeRequest(request)} fails with ${name}`, AFTERMATH_MS)
        return fate
      }
      return { disturbance: { onRequest } }
    },
  }
}

function lostResponseOfNext(shape: SeamRequest): SecondFault {
  const { coarse } = requestShape(shape)
  return {
    kind: 'failed-request',
    at: coarse,
    label: `the response to the next ${coarse} never arrives`,
    shape: `${coarse} response lost`,
    prepare: ({ world, fault }) => {
      const isIt = onceAt(shape)
      const onResponse = (request: SeamRequest) => {
        if (!isIt(request)) return DELIVER
        fault(`the response to ${describeRequest(request)} is lost`, AFTERMATH_MS)
        // Other clients than ours may wait for it for ever.
        return world.pace.isExact ? LOSE : { ...LOSE, lastsMs: EXPLORATION_DEFAULTS.brokenAfterMs }
      }
      return { disturbance: { onResponse } }
    },
  }
}

/** The instance that starts after the first fault does not see the last change of one kind. */
function staleViewOf(resource: string, filling: ReadonlySet<string>): SecondFault {
  return {
    kind: 'stale-view',
    at: undefined,
    label: `restarted on ${resource} as before their last change`,
    shape: resource,
    prepare: ({ world, fault }) => {
      let newest = 0
      world.cluster.api.subscribe((event) => {
        const { resourceVersion } = event.object.metadata as { readonly resourceVersion?: string }
        if (event.resource === resource) newest = Number(resourceVersion)
      })
      const stale = new StaleReads(world, { resource, filling, lastsMs: FROZEN_MS, onEffect: fault })
      return {
        begin: () => {
          if (newest > 0) stale.begin(newest - 1)
        },
        disturbance: {
          onRequest: (request) => stale.onRequest(request),
          onResponse: (request) => stale.onResponse(request),
        },
      }
    },
  }
}

function lateEventOfNext(shape: SeamRequest): SecondFault {
  const { coarse } = requestShape(shape)
  return {
    kind: 'late-own-write',
    at: coarse,
    label: `the event of the next ${coarse} arrives 10 s late`,
    shape: coarse,
    prepare: ({ fault }) => {
      const isIt = onceAt(shape)
      let awaited: string | undefined
      return {
        disturbance: {
          onResponse: (request, status) => {
            if (status < 300 && isIt(request)) awaited = objectId(request)
            return DELIVER
          },
          onEvent: (event) => {
            if (event.type === 'BOOKMARK' || objectId(event) !== awaited) return DELIVER
            awaited = undefined
            fault(`${describeEvent(event)} arrives late`, LATE_MS)
            return { type: 'delay', delayMs: LATE_MS }
          },
        },
      }
    },
  }
}
