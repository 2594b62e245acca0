/** The first of two faults. It only prepares the second and does not count on its own. */
import type { RunControl } from '../run/run-options.ts'
import { DELIVER, type Disturbance, PASS, type SeamRequest } from '../world/disturbance.ts'
import { describeRequest, isBookkeeping } from '../world/request-facts.ts'
import { cutOffAt } from './lost-leadership.ts'
import type { Mode, PatternContext } from './pattern.ts'
import { requestShape } from './shapes.ts'

/** What happens first. */
export interface FirstFault {
  readonly kind: 'crash' | 'failed-request' | 'lost-leadership'
  readonly label: string
  /** The same for faults that are likely to show the same. */
  readonly shape: string
  readonly mode: 'alone' | 'pair'
  /** The request at which it strikes. */
  readonly index: number
  /** @param begin called when it has struck */
  disturb(control: RunControl, begin: () => void): Disturbance
}

/** A crash, a failure and, with a lease, its loss at every write, one of each shape before any other. */
export async function firstFaults(context: PatternContext): Promise<readonly FirstFault[]> {
  const writesOf = async (mode: Mode) => {
    const { world } = await context.undisturbed(mode)
    const writes = world.log.requests.filter(({ isWrite, resource }) => isWrite && !isBookkeeping(resource))
    return distinctFirst(writes)
  }
  const alone = await writesOf('alone')
  const led = context.operator.hasElection ? await writesOf('pair') : []
  return [...alone.map(crashAt), ...alone.map(failureAt), ...led.map(lossAt)]
}

/** One of each shape first, then the others. */
function distinctFirst(writes: readonly SeamRequest[]): readonly SeamRequest[] {
  const seen = new Set<string>()
  const isNew = (write: SeamRequest) => {
    const { coarse } = requestShape(write)
    if (seen.has(coarse)) return false
    seen.add(coarse)
    return true
  }
  const firsts = writes.filter(isNew)
  return [...firsts, ...writes.filter((write) => !firsts.includes(write))]
}

function crashAt(write: SeamRequest): FirstFault {
  return {
    kind: 'crash',
    label: `killed after request ${write.index} (${describeRequest(write)}), before its response arrives`,
    shape: requestShape(write).coarse,
    mode: 'alone',
    index: write.index,
    disturb: ({ replace }, begin) => ({
      onResponse: ({ index, instance }) => {
        if (index !== write.index) return DELIVER
        replace(instance)
        begin()
        return { type: 'lose' }
      },
    }),
  }
}

function failureAt(write: SeamRequest): FirstFault {
  return {
    kind: 'failed-request',
    label: `request ${write.index} (${describeRequest(write)}) fails with 500`,
    shape: requestShape(write).coarse,
    mode: 'alone',
    index: write.index,
    disturb: ({ note }, begin) => ({
      onRequest: (request) => {
        if (request.index !== write.index) return PASS
        note(`${describeRequest(request)} fails with 500`)
        begin()
        return { type: 'reject', code: 500, reason: 'InternalError' }
      },
    }),
  }
}

function lossAt(write: SeamRequest): FirstFault {
  return {
    kind: 'lost-leadership',
    label: `the lease is lost during request ${write.index} (${describeRequest(write)})`,
    shape: requestShape(write).coarse,
    mode: 'pair',
    index: write.index,
    disturb: (control, begin) => {
      const fault = (text: string) => {
        control.note(text)
        begin()
      }
      return cutOffAt(write, { ...control, fault })
    },
  }
}
