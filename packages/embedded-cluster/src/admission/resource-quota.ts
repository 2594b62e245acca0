/** Rejects writes that would exceed a ResourceQuota of their namespace. */
import type { AdmissionAttributes, AdmissionPlugin } from '../api/admission-plugin.ts'
import { forbidden } from '../api/api-errors.ts'
import type { ClusterApi } from '../api/cluster-api.ts'
import { compareQuantities } from '../api/quantity.ts'
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import { type Amounts, add, describeAmounts, NONE, pick, subtract } from '../quota/amounts.ts'
import { missingResources } from '../quota/pod-usage.ts'
import { Quota } from '../quota/quota.ts'
import { groupResource } from '../registry/resource-info.ts'
import { requestedName } from './namespace-lifecycle.ts'

/** A write that was admitted and is not stored yet: it must count for writes that are admitted meanwhile. */
interface Reservation {
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly object: JsonObject
  readonly admittedMs: number
}

/** After this time, an admitted write that is not stored has failed. */
const RESERVED_MS = 10_000

/** Dependencies of the plug-in. */
export interface ResourceQuotaOptions {
  readonly api: Pick<ClusterApi, 'get' | 'list'>
  readonly clock: Clock
}

/** The plug-in ResourceQuota. It must be the last one: what it admits is stored. */
export function createResourceQuotaAdmission({ api, clock }: ResourceQuotaOptions): AdmissionPlugin {
  let reservations: readonly Reservation[] = []

  /** Forgets what has been stored or has failed. */
  const pendingIn = (namespace: string, nowMs: number) => {
    reservations = reservations.filter(
      ({ resource, name, namespace: of, admittedMs }) =>
        nowMs - admittedMs < RESERVED_MS && api.get(resource, of, name) === undefined,
    )
    return reservations.filter((reservation) => reservation.namespace === namespace)
  }

  return {
    name: 'ResourceQuota',
    validate: (attributes) => {
      const { operation, object, namespace, dryRun } = attributes
      const isCounted = operation === 'CREATE' || operation === 'UPDATE'
      if (!isCounted || namespace === undefined || object === undefined || !isWhole(attributes)) return
      const quotas = api.list('resourcequotas', { namespace })
      if (quotas.length === 0) return
      const nowMs = clock.now()
      const resource = groupResource(attributes.resource)
      const pending = pendingIn(namespace, nowMs)
      for (const quota of quotas.map((found) => new Quota(found))) {
        checkQuota(quota, attributes, { api, resource, pending, nowMs })
      }
      if (operation === 'CREATE' && !dryRun) {
        const name = requestedName(attributes)
        reservations = [...reservations, { resource, namespace, name, object, admittedMs: nowMs }]
      }
    },
  }
}

/** Status and other subresources change nothing that quotas count, except the resources of a pod. */
function isWhole({ subresource }: AdmissionAttributes): boolean {
  return subresource === undefined || subresource === '' || subresource === 'resize'
}

interface Check {
  readonly api: Pick<ClusterApi, 'list'>
  readonly resource: string
  readonly pending: readonly Reservation[]
  readonly nowMs: number
}

function checkQuota(quota: Quota, attributes: AdmissionAttributes, check: Check): void {
  const { api, resource, pending, nowMs } = check
  const { object = {}, oldObject, operation } = attributes
  if (!quota.covers(resource, object)) return
  const next = quota.usageOf(resource, object, nowMs)
  const before = oldObject === undefined ? new Map() : quota.usageOf(resource, oldObject, nowMs)
  const requested = positive(subtract(next, before))
  const denied = (why: string) => forbidden(attributes.resource, requestedName(attributes), why)
  if (resource === 'pods' && operation === 'CREATE') {
    const missing = missingResources(object, quota.namesFor('pods'))
    if (missing !== '') throw denied(`failed quota: ${quota.name}: must specify ${missing}`)
  }
  if (requested.size === 0) return
  let used = quota.totalUsage(api, nowMs)
  for (const other of pending) used = add(used, quota.usageOf(other.resource, other.object, nowMs))
  const after = add(used, requested)
  const exceeded = [...requested.keys()].filter(
    (name) => compareQuantities(after.get(name) ?? NONE, quota.hard.get(name) ?? NONE) > 0,
  )
  if (exceeded.length === 0) return
  const shown = (amounts: Amounts) => describeAmounts(pick(amounts, exceeded))
  const why = `requested: ${shown(requested)}, used: ${shown(used)}, limited: ${shown(quota.hard)}`
  throw denied(`exceeded quota: ${quota.name}, ${why}`)
}

function positive(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => amount.unscaled > 0n))
}
