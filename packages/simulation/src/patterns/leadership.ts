/** T10 and T14: leadership is lost in the middle of something, or the operator is told to stop there. */
import { DELIVER, PASS } from '../disturbance.ts'
import { describeRequest, isBookkeeping } from '../request-facts.ts'
import type { RunControl } from '../scenario-run.ts'
import { describeEvent } from '../seam.ts'
import type { Mode, Pattern, Point } from './pattern.ts'

const LEASES = 'leases.coordination.k8s.io'

/** Above the 15 s of a lease: whatever was on its way has outlived the leadership. */
const STUCK_MS = 20_000

/** T10: the leader cannot renew its lease from request i on, and request i itself is stuck. */
export const leadershipLost: Pattern = {
  id: 'T10',
  title: 'leadership lost mid-way',
  coverage: 'exhaustive',
  async points(context) {
    if (!context.operator.hasElection) return []
    const { world } = await context.undisturbed('pair')
    const requests = world.requests.filter(({ resource, verb }) => resource !== LEASES && verb !== 'watch')
    return requests.map(
      (stuck): Point => ({
        label: `the lease is lost during request ${stuck.index} (${describeRequest(stuck)})`,
        run: () =>
          context.disturbed('pair', {
            mayFail: true,
            disturb: ({ world: disturbed, fault, problem }) => {
              let cutOff: number | undefined
              let isTakenOver = false
              return {
                onRequest: (request) => {
                  if (request.index === stuck.index) {
                    cutOff = request.instance
                    fault(`instance ${cutOff} cannot reach its lease any more`)
                    return { type: 'delay', delayMs: STUCK_MS }
                  }
                  return request.instance === cutOff && request.resource === LEASES ? { type: 'reset' } : PASS
                },
                onResponse: (request, status) => {
                  if (cutOff === undefined || !request.isWrite || status >= 300) return DELIVER
                  if (request.resource === LEASES && request.instance !== cutOff && !isTakenOver) {
                    isTakenOver = true
                    fault(`instance ${request.instance} leads, at ${disturbed.elapsedMs} ms`)
                  }
                  // Events may still be sent: they are about the past and change nothing.
                  if (isTakenOver && request.instance === cutOff && !isBookkeeping(request.resource)) {
                    problem(`the old leader wrote after its time: ${describeRequest(request)}`)
                  }
                  return DELIVER
                },
              }
            },
          }),
      }),
    )
  },
}

/** T14: the stop signal comes at each request, answer and event. */
export const shutdownAnywhere: Pattern = {
  id: 'T14',
  title: 'shutdown anywhere',
  coverage: 'exhaustive',
  async points(context) {
    const mode: Mode = context.operator.hasElection ? 'elected' : 'alone'
    const { world } = await context.undisturbed(mode)
    let leases = 0
    // Renewals are all alike: the first three stand for the thousands that follow.
    const requests = world.requests.filter(({ resource }) => resource !== LEASES || ++leases <= 3)
    const point = (label: string, disturb: (control: RunControl) => ReturnType<StopMaker>): Point => ({
      label,
      run: () =>
        context.disturbed(mode, {
          disturb: (control) => ({ ...disturb(control), onStepEnd: async () => checkLease(control) }),
        }),
    })
    return [
      ...requests.flatMap((at) => [
        point(`told to stop before request ${at.index} (${describeRequest(at)})`, ({ stop }) => ({
          onRequest: ({ index, instance }) => {
            if (index === at.index) stop(instance)
            return PASS
          },
        })),
        point(`told to stop at the answer to request ${at.index} (${describeRequest(at)})`, ({ stop }) => ({
          onResponse: ({ index, instance }) => {
            if (index === at.index) stop(instance)
            return DELIVER
          },
        })),
      ]),
      ...world.events.map((at) =>
        point(`told to stop at event ${at.index} (${describeEvent(at)})`, ({ stop }) => ({
          onEvent: ({ index, instance }) => {
            if (index === at.index) stop(instance)
            return DELIVER
          },
        })),
      ),
    ]
  },
}

type StopMaker = (control: RunControl) => import('../disturbance.ts').Disturbance

/** The lease is given back after the last write, never before. */
function checkLease({ world, problem }: RunControl): void {
  for (const instance of world.instances.filter(({ isStopping, end }) => isStopping && end !== undefined)) {
    const own = world.writes.filter((write) => write.instance === instance.number)
    const released = own.findLastIndex(({ resource }) => resource === LEASES)
    const late = released < 0 ? [] : own.slice(released + 1).filter(({ resource }) => !isBookkeeping(resource))
    if (late[0] !== undefined) problem(`wrote after giving the lease back: ${describeRequest(late[0])}`)
  }
}
