/** Two faults in one run: the second strikes while the operator recovers from the first. */
import type { RunControl } from '../run/run-options.ts'
import { DELIVER, type Disturbance, PASS } from '../world/disturbance.ts'
import { type FirstFault, firstFaults } from './first-faults.ts'
import { type Pattern, type PatternContext, type Point, pointOf } from './pattern.ts'
import { type SecondFault, secondFaults } from './second-faults.ts'
import { requestShape } from './shapes.ts'

/**
 * A crash, a lost lease or a failed write, followed by another crash, an old view, a failed request or a late event.
 *
 * Points come in the order of a covering design: of each combination of kinds in turn, and within one so that every
 * first fault and every second fault occurs before any of them occurs twice. A limit takes the first ones.
 */
export const twoFaults: Pattern = {
  name: 'two-faults',
  title: 'a second fault while it recovers',
  coverage: 'bounded',
  async points(context) {
    const [firsts, seconds] = [await firstFaults(context), await secondFaults(context)]
    const last = { alone: await lastRequests(context, 'alone'), pair: await lastRequests(context, 'pair') }
    const byKind = Map.groupBy(seconds, ({ kind }) => kind)
    const blocks = [...Map.groupBy(firsts, ({ kind }) => kind).values()].flatMap((ofKind) =>
      [...byKind.values()].map((others) =>
        diagonal(ofKind, others).filter(([first, { at }]) =>
          // Only a crash makes an instance start; anything else needs a request that is still to come.
          at === undefined ? first.kind === 'crash' : (last[first.mode].get(at) ?? 0) > first.index,
        ),
      ),
    )
    return inTurn(blocks).map(([first, second]) => pairPoint(context, first, second))
  },
}

/** The index of the last request of each coarse shape. */
async function lastRequests(context: PatternContext, mode: 'alone' | 'pair'): Promise<ReadonlyMap<string, number>> {
  if (mode === 'pair' && !context.operator.hasElection) return new Map()
  const { world } = await context.undisturbed(mode)
  return new Map(world.log.requests.map((request) => [requestShape(request).coarse, request.index]))
}

function pairPoint(context: PatternContext, first: FirstFault, second: SecondFault): Point {
  return pointOf(context, {
    label: `${first.label}; then ${second.label}`,
    shape: { coarse: `${first.kind} + ${second.kind}`, fine: `${first.shape} + ${second.shape}` },
    mode: first.mode,
    // What was done before the second fault may be recorded with the time of either.
    options: { extraDeletes: 2, comparesTimes: false, ...(first.kind === 'lost-leadership' && { mayFail: true }) },
    disturb: (control) => bothIn(control, first, second),
  })
}

function bothIn(control: RunControl, first: FirstFault, second: SecondFault): Disturbance {
  let isArmed = false
  const strike = second.prepare(control)
  const begin = () => {
    isArmed = true
    strike.begin?.()
  }
  return combined(first.disturb(control, begin), strike.disturbance, () => isArmed)
}

/** All pairs, so that every beginning of the result meets as many of either side as possible. */
export function diagonal<A, B>(ones: readonly A[], others: readonly B[]): readonly (readonly [A, B])[] {
  const size = Math.max(ones.length, others.length)
  const pairs: (readonly [A, B])[] = []
  for (let shift = 0; shift < size; shift++) {
    for (let at = 0; at < size; at++) {
      // The longer side is walked once per shift, the shorter one over and over.
      const [one, other] =
        ones.length >= others.length
          ? [ones[at], others[(at + shift) % others.length]]
          : [ones[(at + shift) % ones.length], others[at]]
      if (shift < Math.min(ones.length, others.length) && one !== undefined && other !== undefined)
        pairs.push([one, other])
    }
  }
  return pairs
}

/** One of each list in turn. */
export function inTurn<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}

/**
 * Two disturbances in one run: the second is asked only once the first has struck.
 *
 * @param isArmed whether the first has struck
 */
function combined(first: Disturbance, second: Disturbance, isArmed: () => boolean): Disturbance {
  return {
    onRequest: async (request) => {
      const wasArmed = isArmed()
      const fate = (await first.onRequest?.(request)) ?? PASS
      return fate.type === 'pass' && wasArmed ? ((await second.onRequest?.(request)) ?? PASS) : fate
    },
    onResponse: (request, status) => {
      const wasArmed = isArmed()
      const fate = first.onResponse?.(request, status) ?? DELIVER
      return fate.type === 'deliver' && wasArmed ? (second.onResponse?.(request, status) ?? DELIVER) : fate
    },
    onEvent: (event) => {
      const wasArmed = isArmed()
      const fate = first.onEvent?.(event) ?? DELIVER
      return fate.type === 'deliver' && wasArmed ? (second.onEvent?.(event) ?? DELIVER) : fate
    },
  }
}
