/** The operator gets the stop signal at any point. */

import type { RunControl } from '../run/run-options.ts'
import { DELIVER, type Disturbance, PASS } from '../world/disturbance.ts'
import { describeRequest, isBookkeeping, LEASES } from '../world/request-facts.ts'
import type { RunLog, SchedulerStep } from '../world/run-log.ts'
import { describeEvent } from '../world/seam.ts'
import { type Mode, type Pattern, type Point, pointOf, type Shape } from './pattern.ts'
import { eventShape, requestShape } from './shapes.ts'

/** The stop signal arrives at each step of the scheduler, and while idle. */
export const shutdown: Pattern = {
  name: 'shutdown',
  title: 'stopped by a signal',
  coverage: 'exhaustive',
  async points(context) {
    const mode: Mode = context.operator.hasElection ? 'elected' : 'alone'
    const { world } = await context.undisturbed(mode)
    const point = (label: string, shape: Shape, disturb: (control: RunControl) => Disturbance): Point =>
      pointOf(context, {
        label: `stopped by a signal ${label}`,
        shape,
        mode,
        disturb: (control) => {
          const disturbance = disturb(control)
          const onStepEnd = async (step: number) => {
            await disturbance.onStepEnd?.(step)
            checkLease(control)
          }
          return { ...disturbance, onStepEnd }
        },
      })
    return [
      ...distinctSteps(world.log.steps).map((step) =>
        point(labelOf(step, world.log), shapeOf(step, world.log), ({ stop }) => stopAt(step, stop)),
      ),
      ...context.scenario.steps.map(({ name }, index) =>
        point(`at rest after the step "${name}"`, { coarse: 'at rest', fine: name }, ({ world: disturbed, stop }) => ({
          onStepEnd: async (ended) => {
            if (ended === index) for (const { number } of disturbed.running) stop(number)
          },
        })),
      ),
    ]
  },
}

/**
 * All steps but repetitions of the heartbeat: between two steps that concern the operator's work,
 * one renewal of the lease is like the other, and one timer like the other. The first of each stands for all.
 */
export function distinctSteps(steps: readonly SchedulerStep[]): readonly SchedulerStep[] {
  const seen = new Set<string>()
  return steps.filter(({ kind, isHeartbeat }) => {
    if (!isHeartbeat) {
      seen.clear()
      return true
    }
    if (seen.has(kind)) return false
    seen.add(kind)
    return true
  })
}

function stopAt(step: SchedulerStep, stop: (instance: number) => void): Disturbance {
  const stopThen =
    <F>(fate: F) =>
    ({ index, instance }: { readonly index: number; readonly instance: number }): F => {
      if (index === step.index) stop(instance)
      return fate
    }
  switch (step.kind) {
    case 'request':
      return { onRequest: stopThen(PASS) }
    case 'response':
      return { onResponse: stopThen(DELIVER) }
    case 'event':
      return { onEvent: stopThen(DELIVER) }
    case 'timer':
      return { onTimer: stopThen(undefined) }
  }
}

function labelOf({ kind, index }: SchedulerStep, { requests, events }: RunLog): string {
  if (kind === 'timer') return `at timer ${index}`
  const event = events[index]
  if (kind === 'event') return `at event ${index}${event === undefined ? '' : ` (${describeEvent(event)})`}`
  const request = requests[index]
  const what = request === undefined ? '' : ` (${describeRequest(request)})`
  return kind === 'request' ? `before request ${index}${what}` : `at the response to request ${index}${what}`
}

function shapeOf({ kind, index }: SchedulerStep, { requests, events }: RunLog): Shape {
  const event = kind === 'event' ? events[index] : undefined
  if (event !== undefined) return eventShape(event)
  const request = kind === 'timer' ? undefined : requests[index]
  return request === undefined ? { coarse: kind, fine: '' } : requestShape(request, kind)
}

/** The lease is released after the last write, never before. */
function checkLease({ world, problem }: RunControl): void {
  for (const instance of world.instances.filter(({ isStopping, end }) => isStopping && end !== undefined)) {
    const own = world.log.writes.filter((write) => write.instance === instance.number)
    const released = own.findLastIndex(({ resource }) => resource === LEASES)
    const late = released < 0 ? [] : own.slice(released + 1).filter(({ resource }) => !isBookkeeping(resource))
    if (late[0] !== undefined) problem('late-write', `wrote after releasing the lease: ${describeRequest(late[0])}`)
  }
}
