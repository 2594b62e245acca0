/** Whether a declared object has reached its goal, read from what its status says about itself. */
import type { AnyCrd, StructuralSchema } from '@reeve/crd'
import { storedSchema } from '../crd-manifests.ts'
import type { PlainObject } from '../operator-under-test.ts'

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly observedGeneration?: number
}

interface Status {
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
  readonly phase?: unknown
  readonly state?: unknown
}

/** Conditions that say that all is well, the ones that say most first. */
const GOOD_CONDITIONS = ['Ready', 'Available', 'Healthy', 'Succeeded', 'Complete', 'Completed', 'Reconciled', 'Synced']

/** Conditions that say that nothing more is going to happen, or that something is broken. */
const BAD_CONDITIONS = ['Stalled', 'Failed', 'Degraded']

const BAD_PHASE =
  /^(error|failed|failure|degraded|pending|unknown|creating|deploying|progressing|updating|installing|deleting|terminating)$/i

/** Phases that say that something is broken, not only that it is not done. */
const ERROR_PHASE = /^(error|failed|failure|degraded)$/i

/** What of the status says whether the goal is reached. */
const TELLING = ['conditions', 'observedGeneration', 'phase', 'state'] as const

/**
 * Why the object is not settled; `undefined` when it is, and when its status has no field for it.
 *
 * An object is settled when it is not being deleted, its `observedGeneration` is its generation, a condition such as
 * `Ready` is true, or, without such a condition, its phase does not say otherwise.
 */
export function whyNotSettled(crd: AnyCrd, object: PlainObject): string | undefined {
  const { generation, deletionTimestamp, finalizers } = object.metadata as {
    readonly generation?: number
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
  }
  if (deletionTimestamp !== undefined) return `it is still being deleted, finalizers: ${finalizers?.join(', ')}`
  const status = (object.status ?? {}) as Status
  const { observedGeneration, conditions = [] } = status
  if (observedGeneration !== undefined && observedGeneration !== generation)
    return `status.observedGeneration is ${observedGeneration}, its generation ${generation}`
  const bad = conditions.find(({ type = '', status: value }) => BAD_CONDITIONS.includes(type) && value === 'True')
  if (bad !== undefined) return describe(bad)
  const good = GOOD_CONDITIONS.flatMap((type) => conditions.find((condition) => condition.type === type) ?? [])[0]
  if (good !== undefined) {
    if (good.status !== 'True') return describe(good)
    const isOutdated = good.observedGeneration !== undefined && good.observedGeneration !== generation
    return isOutdated
      ? `the condition ${good.type} is about generation ${good.observedGeneration}, not ${generation}`
      : undefined
  }
  const phase = status.phase ?? status.state
  if (typeof phase === 'string' && BAD_PHASE.test(phase)) return `its phase is ${phase}`
  const promised = promisedBy(crd)
  const isSilent = promised.length > 0 && promised.every((field) => status[field] === undefined)
  return isSilent ? `its status says nothing: neither of ${promised.join(', ')} is set` : undefined
}

/** What the status says is broken; `undefined` when it says nothing of that kind. */
export function reportedError({ status = {} }: PlainObject): string | undefined {
  const { conditions = [], phase, state } = status as Status
  const bad = conditions.find(({ type = '', status: value }) => BAD_CONDITIONS.includes(type) && value === 'True')
  if (bad !== undefined) return describe(bad)
  const said = phase ?? state
  return typeof said === 'string' && ERROR_PHASE.test(said) ? `its phase is ${said}` : undefined
}

/** Whether the status of a resource has room to say that something is wrong. */
export function canExplain(crd: AnyCrd): boolean {
  return promisedBy(crd).some((field) => field !== 'observedGeneration')
}

function promisedBy(crd: AnyCrd): readonly (typeof TELLING)[number][] {
  return TELLING.filter((field) => statusSchema(crd)?.properties?.[field] !== undefined)
}

function statusSchema(crd: AnyCrd): StructuralSchema | undefined {
  return storedSchema(crd).properties?.status
}

function describe({ type, status, reason, message }: Condition): string {
  const why = [reason, message].filter((part) => part !== undefined && part !== '').join(': ')
  return `the condition ${type} is ${status}${why === '' ? '' : ` (${why})`}`
}
