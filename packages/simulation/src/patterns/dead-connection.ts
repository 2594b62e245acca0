/** A connection dies silently. */
import { CACHE_DEFAULTS } from '@reeve/runtime/cache'
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import type { RunControl } from '../run/run-options.ts'
import { DELIVER, PASS, type SeamEvent } from '../world/disturbance.ts'
import type { RunningInstance } from '../world/instance.ts'
import { selectionId } from '../world/request-facts.ts'
import { describeEvent } from '../world/seam.ts'
import { type Fault, type Pattern, pointOf } from './pattern.ts'
import { eventShape } from './shapes.ts'

const { silenceMs, backoffBaseMs, backoffJitter } = CACHE_DEFAULTS
const { brokenAfterMs } = EXPLORATION_DEFAULTS

/** A dead stream is closed after the tolerated silence, and reopened after the first back-off. */
const DEADLINE_MS = silenceMs + backoffBaseMs * (1 + backoffJitter) + 1

/** The metric in which the runtime counts what ended badly. */
const FAILURES = 'informer_failures_total'

/** The stream falls silent at each event. */
export const deadConnection: Pattern = {
  name: 'dead-connection',
  title: 'a stream falls silent',
  coverage: 'exhaustive',
  async points(context) {
    const { realTime } = context.operator
    const { world } = await context.undisturbed('alone')
    return world.log.events.map((event) =>
      pointOf(context, realTime === undefined ? silenceAt(event) : brokenAfterSilence(event)),
    )
  },
}

/**
 * A process is given no time to notice by itself, which takes other clients up to ten minutes: the connection breaks
 * after a while.
 */
function brokenAfterSilence(event: SeamEvent): Fault {
  const label = `event ${event.index} (${describeEvent(event)}) never arrives: the stream is silent, then breaks`
  return {
    label,
    shape: eventShape(event),
    mode: 'alone',
    disturb: ({ fault }) => ({
      onEvent: ({ index }) => {
        if (index !== event.index) return DELIVER
        fault(label, brokenAfterMs)
        return { type: 'silence', lastsMs: brokenAfterMs }
      },
    }),
  }
}

function silenceAt(event: SeamEvent): Fault {
  const label = `event ${event.index} (${describeEvent(event)}) never arrives: the stream is silent`
  return {
    label,
    shape: eventShape(event),
    mode: 'alone',
    disturb: (control) => {
      const { world, fault, problem } = control
      let isDead = false
      return {
        onEvent: ({ index, instance }) => {
          if (index !== event.index) return DELIVER
          fault(label, DEADLINE_MS)
          isDead = true
          world.clock.schedule(DEADLINE_MS, () => {
            if (isDead && world.running.some(({ number }) => number === instance))
              problem('unnoticed', `the dead stream of ${event.resource} was not noticed within ${DEADLINE_MS} ms`)
          })
          return { type: 'silence' }
        },
        // Health and metrics must show it before the operator has recovered, or it is never seen. Silence while
        // the first state is streamed means that the server cannot stream: then it is listed, and that is all.
        onRequest: (request) => {
          const { verb, instance } = request
          const isBack = (verb === 'list' || verb === 'watch') && selectionId(request) === event.selection
          if (isDead && isBack && verb === 'watch') checkVisible(control, event, world.instances[instance - 1])
          if (isBack) isDead = false
          return PASS
        },
      }
    },
  }
}

function checkVisible({ problem }: RunControl, { resource }: SeamEvent, instance: RunningInstance | undefined): void {
  if (instance === undefined) return
  const { metrics } = instance
  if (metrics.has(FAILURES) && metrics.value(FAILURES, { resource, reason: 'silent' }) === 0)
    problem('unnoticed', `no metric shows that the stream of ${resource} was dead`)
  const health = instance.cacheHealth()?.informers.filter((informer) => informer.resource === resource)
  if (health !== undefined && !health.some(({ lastFailure }) => lastFailure?.reason === 'silent'))
    problem('unnoticed', `health does not show that the stream of ${resource} was dead`)
}
