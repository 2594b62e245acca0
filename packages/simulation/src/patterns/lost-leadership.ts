/** Leadership is lost in the middle of something. */
import { ELECTION_DEFAULTS } from '@reeve/runtime/election'
import type { RunControl } from '../run/run-options.ts'
import { DELIVER, type Disturbance, PASS, type SeamRequest } from '../world/disturbance.ts'
import { describeRequest, isBookkeeping, LEASES } from '../world/request-facts.ts'
import { type Pattern, pointOf } from './pattern.ts'
import { requestShape } from './shapes.ts'

/** Above the 15 s of a lease: requests in flight have outlived the leadership. */
const STUCK_MS = 20_000

/** The leader cannot renew its lease from request i on, and request i itself is stuck, while a second instance waits. */
export const lostLeadership: Pattern = {
  name: 'lost-leadership',
  title: 'the lease is lost midway',
  coverage: 'exhaustive',
  async points(context) {
    if (!context.operator.hasElection) return []
    const { world } = await context.undisturbed('pair')
    const requests = world.log.requests.filter(({ resource, verb }) => resource !== LEASES && verb !== 'watch')
    return requests.map((stuck) =>
      pointOf(context, {
        label: `the lease is lost during request ${stuck.index} (${describeRequest(stuck)})`,
        shape: requestShape(stuck),
        mode: 'pair',
        options: { mayFail: true },
        disturb: (control) => cutOffAt(stuck, control),
      }),
    )
  },
}

/** From request `stuck` on, the instance that sent it cannot renew its lease. */
export function cutOffAt(stuck: SeamRequest, { world, fault, note, problem }: RunControl): Disturbance {
  /** When the last renewal that succeeded was sent, by instance: from then on the leader counts. */
  const renewedMs = new Map<number, number>()
  const sentMs = new Map<number, number>()
  /** Who holds a lease. With shards each instance holds some, and one to show that it is there. */
  const holders = new Map<string, number>()
  let cutOff: number | undefined
  let isTakenOver = false
  return {
    onRequest: (request) => {
      if (request.index === stuck.index) {
        cutOff = request.instance
        note(`instance ${cutOff} cannot reach its lease anymore`)
        return { type: 'delay', delayMs: world.pace.ofOperator(STUCK_MS) }
      }
      if (request.resource === LEASES) {
        sentMs.set(request.instance, world.elapsedMs)
        return request.instance === cutOff ? { type: 'reset' } : PASS
      }
      const deadlineMs =
        (renewedMs.get(request.instance) ?? 0) + world.pace.ofOperator(ELECTION_DEFAULTS.renewDeadlineMs)
      const isLate = request.instance === cutOff && world.elapsedMs > deadlineMs
      // Events may still be sent: they are about the past and change nothing.
      if (isLate && request.isWrite && !isBookkeeping(request.resource))
        problem('late-write', `the old leader began a write after its deadline: ${describeRequest(request)}`)
      return PASS
    },
    onResponse: (request, status) => {
      const { instance, resource } = request
      if (!request.isWrite || status >= 300) return DELIVER
      if (resource === LEASES) {
        renewedMs.set(instance, sentMs.get(instance) ?? 0)
        const id = `${request.namespace}/${request.name}`
        const isFromCutOff = cutOff !== undefined && instance !== cutOff && holders.get(id) === cutOff
        // One that is released, as before a hand-over, is taken from nobody.
        if (isHeld(request, world)) holders.set(id, instance)
        else holders.delete(id)
        if (isFromCutOff && !isTakenOver) {
          isTakenOver = true
          fault(`instance ${instance} leads`, world.pace.ofOperator(STUCK_MS))
        }
      }
      if (isTakenOver && instance === cutOff && !isBookkeeping(resource))
        problem('late-write', `a write of the old leader took effect under the new one: ${describeRequest(request)}`)
      return DELIVER
    },
  }
}

function isHeld({ namespace, name }: SeamRequest, { cluster }: RunControl['world']): boolean {
  const lease = name === undefined ? undefined : cluster.api.get(LEASES, namespace, name)
  const { holderIdentity } = (lease?.spec ?? {}) as { readonly holderIdentity?: string }
  return holderIdentity !== undefined && holderIdentity !== ''
}
