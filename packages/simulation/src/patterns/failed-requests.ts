/**
 * Each request fails once, in each of the ways in which requests fail; and so does each call outside, which also fails for
 * a while: only then it shows whether the operator waits between its attempts.
 */
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import type { RunControl } from '../run/run-options.ts'
import {
  DELIVER,
  type Disturbance,
  PASS,
  type RequestFate,
  type SeamCall,
  type SeamRequest,
} from '../world/disturbance.ts'
import { describeRequest, EVENTS } from '../world/request-facts.ts'
import type { World } from '../world/world.ts'
import { type Fault, type Pattern, pointOf } from './pattern.ts'
import { requestShape } from './shapes.ts'

const RETRY_AFTER_SECONDS = 3

/** Real timers may fire early. */
const TIMER_ACCURACY = 0.95

/** A client waits half a minute for a response, and what failed is retried after a back-off: only then it is over. */
const AFTERMATH_MS = 60_000

/** Several attempts of an operator that waits a second, two, and so on. */
const OUTAGE_MS = 10_000

/** Operators in Go send an event again up to 13 s after they notice that it failed, in their own time. */
const EVENT_AFTERMATH_MS = 20_000

function aftermathMs(failing: SeamRequest, { pace }: World): number {
  return EVENTS.has(failing.resource) ? Math.max(AFTERMATH_MS, pace.ofOperator(EVENT_AFTERMATH_MS)) : AFTERMATH_MS
}

interface Failure {
  readonly name: string
  readonly fate: RequestFate
  /** Whether servers respond to reads like this, too. Where time is real, others are left out. */
  readonly isForReads: boolean
}

const FAILURES: readonly Failure[] = [
  { name: '409', isForReads: false, fate: { type: 'reject', code: 409, reason: 'Conflict' } },
  { name: '422', isForReads: false, fate: { type: 'reject', code: 422, reason: 'Invalid' } },
  {
    name: '429',
    isForReads: true,
    fate: { type: 'reject', code: 429, reason: 'TooManyRequests', retryAfterSeconds: RETRY_AFTER_SECONDS },
  },
  { name: '500', isForReads: true, fate: { type: 'reject', code: 500, reason: 'InternalError' } },
  { name: 'a broken connection', isForReads: true, fate: { type: 'reset' } },
]

/** Every request and every call fails once. */
export const failedRequest: Pattern = {
  name: 'failed-request',
  title: 'a request fails',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const { realTime } = context.operator
    const faults = [
      ...(realTime === undefined ? world.log.requests : writesFirst(world.log.requests)).flatMap((failing) => [
        ...FAILURES.filter(({ isForReads }) => realTime === undefined || failing.isWrite || isForReads).map((failure) =>
          rejected(failing, failure),
        ),
        lostResponse(failing, realTime && EXPLORATION_DEFAULTS.brokenAfterMs),
      ]),
      ...world.log.calls.flatMap((failing) => [failedCall(failing, 'fail'), failedCall(failing, 'fail-afterwards')]),
      ...firstOfEach(world.log.calls).map(outage),
    ]
    return faults.map((fault) => pointOf(context, fault))
  },
}

/** Where there is not enough time for all: what fails half-way is most likely to show something. */
function writesFirst(requests: readonly SeamRequest[]): readonly SeamRequest[] {
  return [...requests.filter(({ isWrite }) => isWrite), ...requests.filter(({ isWrite }) => !isWrite)]
}

function rejected(failing: SeamRequest, failure: Failure): Fault {
  return {
    label: `request ${failing.index} (${describeRequest(failing)}) fails with ${failure.name}`,
    shape: requestShape(failing, failure.name),
    mode: 'alone',
    disturb: (control) => failAt(failing, failure, control),
  }
}

function failAt(failing: SeamRequest, { name, fate }: Failure, { world, fault, problem }: RunControl): Disturbance {
  let rejectedAtMs: number | undefined
  return {
    onRequest: (request) => {
      if (request.index === failing.index) {
        fault(`${describeRequest(request)} fails with ${name}`, aftermathMs(failing, world))
        if (name === '429') rejectedAtMs = world.elapsedMs
        return fate
      }
      const isRepeated = request.instance === failing.instance && describeRequest(request) === describeRequest(failing)
      if (rejectedAtMs === undefined || !isRepeated) return PASS
      const waitedMs = world.elapsedMs - rejectedAtMs
      rejectedAtMs = undefined
      // The operator reads the header in its own time.
      const { pace } = world
      const allowedMs = pace.ofOperator(RETRY_AFTER_SECONDS * 1_000)
      if (waitedMs < (pace.isExact ? allowedMs : TIMER_ACCURACY * allowedMs)) {
        const seconds = ((waitedMs / allowedMs) * RETRY_AFTER_SECONDS).toFixed(3)
        const what = describeRequest(request)
        problem('impatient', `${what} was repeated after ${seconds} s; Retry-After was ${RETRY_AFTER_SECONDS} s`)
      }
      return PASS
    },
  }
}

/** @param brokenAfterMs when the connection breaks: other clients than ours may wait for minutes, or for ever */
function lostResponse(failing: SeamRequest, brokenAfterMs: number | undefined): Fault {
  return {
    label: `request ${failing.index} (${describeRequest(failing)}) is processed and its response never arrives`,
    shape: requestShape(failing, 'response lost'),
    mode: 'alone',
    disturb: ({ world, fault }) => ({
      onResponse: (request) => {
        if (request.index !== failing.index) return DELIVER
        fault(`the response to ${describeRequest(request)} is lost`, aftermathMs(failing, world))
        return { type: 'lose', ...(brokenAfterMs !== undefined && { lastsMs: brokenAfterMs }) }
      },
    }),
  }
}

function failedCall(failing: SeamCall, fate: 'fail' | 'fail-afterwards'): Fault {
  const when = fate === 'fail' ? 'without its effect' : 'after its effect'
  return {
    label: `outside call ${failing.index} (${failing.operation}) fails ${when}`,
    shape: { coarse: `call fails ${when}`, fine: failing.operation },
    mode: 'alone',
    disturb: ({ fault }) => ({
      onCall: ({ index, operation }) => {
        if (index !== failing.index) return 'deliver'
        fault(`${operation} fails`, AFTERMATH_MS)
        return fate
      },
    }),
  }
}

/** The first call of each operation. */
function firstOfEach(calls: readonly SeamCall[]): readonly SeamCall[] {
  return calls.filter(({ operation }, at) => calls.findIndex((call) => call.operation === operation) === at)
}

function outage(first: SeamCall): Fault {
  const seconds = OUTAGE_MS / 1_000
  return {
    label: `outside call ${first.index} (${first.operation}) fails, and all calls for ${seconds} s`,
    shape: { coarse: 'calls fail for a while', fine: first.operation },
    mode: 'alone',
    disturb: ({ world, fault }) => {
      let endsMs: number | undefined
      return {
        onCall: ({ index, operation }) => {
          if (index === first.index) {
            endsMs = world.elapsedMs + world.pace.ofOperator(OUTAGE_MS)
            fault(`${operation} fails, and all calls for ${seconds} s`, AFTERMATH_MS + world.pace.ofOperator(OUTAGE_MS))
          }
          return endsMs !== undefined && world.elapsedMs < endsMs ? 'fail' : 'deliver'
        },
      }
    },
  }
}
