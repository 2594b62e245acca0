/** T7: a connection dies without a word. */
import { INFORMER_TIMING } from '@reeve/runtime'
import type { RunControl } from '../scenario-run.ts'
import { DELIVER, PASS, type SeamEvent } from '../world/disturbance.ts'
import type { RunningInstance } from '../world/instance.ts'
import { selectionId } from '../world/request-facts.ts'
import { describeEvent } from '../world/seam.ts'
import type { Pattern, PatternContext, Point } from './pattern.ts'

const { silenceMs, backoffBaseMs, backoffJitter } = INFORMER_TIMING

/** A dead stream is given up after the silence that is tolerated, and asked for again after the first back-off. */
const DEADLINE_MS = silenceMs + backoffBaseMs * (1 + backoffJitter) + 1

/** The metric in which the runtime counts what ended badly. */
const FAILURES = 'informer_failures_total'

/** The stream falls silent at each event. */
export const deadConnection: Pattern = {
  id: 'T7',
  title: 'dead connection',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    return world.events.map((event) => pointOf(context, event))
  },
}

function pointOf(context: PatternContext, event: SeamEvent): Point {
  const label = `event ${event.index} (${describeEvent(event)}) never arrives: the stream is silent`
  return {
    label,
    run: () =>
      context.disturbed('alone', {
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
                  problem(`nobody noticed within ${DEADLINE_MS} ms that the stream of ${event.resource} is dead`)
              })
              return { type: 'silence' }
            },
            // Health and metrics have to tell of it before the operator has recovered, or nobody ever sees it. Silence
            // while the first state is streamed means that the server cannot stream: then it is listed, and that is all.
            onRequest: (request) => {
              const { verb, instance } = request
              const isBack = (verb === 'list' || verb === 'watch') && selectionId(request) === event.selection
              if (isDead && isBack && verb === 'watch') checkVisible(control, event, world.instances[instance - 1])
              if (isBack) isDead = false
              return PASS
            },
          }
        },
      }),
  }
}

function checkVisible({ problem }: RunControl, { resource }: SeamEvent, instance: RunningInstance | undefined): void {
  if (instance === undefined) return
  const { metrics } = instance
  if (metrics.has(FAILURES) && metrics.value(FAILURES, { resource, reason: 'silent' }) === 0)
    problem(`no metric tells that the stream of ${resource} was dead`)
  const health = instance.cacheHealth()?.informers.filter((informer) => informer.resource === resource)
  if (health !== undefined && !health.some(({ lastFailure }) => lastFailure?.reason === 'silent'))
    problem(`health does not tell that the stream of ${resource} was dead`)
}
