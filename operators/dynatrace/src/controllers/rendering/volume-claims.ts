/** Storage that belongs to a StatefulSet and goes with it. */
import type { PersistentVolumeClaim, StatefulSet } from '@reeve/kube'
import { canonicalQuantity } from '../../api/core/quantity.ts'
import { ANNOTATIONS } from './annotations.ts'
import { hashOfOrdered } from './hashes.ts'

type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>

/** What a StatefulSet with a claim has more than one without. */
export interface Claimed {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Pick<NonNullable<StatefulSet['spec']>, 'volumeClaimTemplates' | 'persistentVolumeClaimRetentionPolicy'>
}

/** A small volume, the default. */
export const DEFAULT_CLAIM: ClaimSpec = claimOf('1Gi')

/** A claim of one node for a volume of the given size. */
export function claimOf(storage: string): ClaimSpec {
  return { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } }
}

/**
 * Claims a volume under `name`. The hash is compared with what installations carry: if it differed, a takeover
 * would delete their StatefulSets together with their volumes.
 */
export function claimed(name: string, spec: ClaimSpec): Claimed {
  return {
    annotations: { [ANNOTATIONS.claimsHash]: claimsHash(name, spec) },
    spec: {
      volumeClaimTemplates: [{ metadata: { name }, spec } as PersistentVolumeClaim],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    },
  }
}

/** In the order in which earlier releases wrote them. */
const FIELDS = [
  'accessModes',
  'selector',
  'resources',
  'volumeName',
  'storageClassName',
  'volumeMode',
  'dataSource',
  'dataSourceRef',
  'volumeAttributesClassName',
] as const

function claimsHash(name: string, spec: ClaimSpec): string {
  const given = new Map<string, unknown>(Object.entries(spec))
  given.set('resources', canonicalResources(spec.resources))
  if (spec.selector) given.set('selector', inOrder(spec.selector, ['matchLabels', 'matchExpressions']))
  return hashOfOrdered([{ metadata: { name }, spec: inOrder(Object.fromEntries(given), FIELDS), status: {} }])
}

function canonicalResources({ limits, requests }: NonNullable<ClaimSpec['resources']> = {}): object {
  const amounts = (given: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(given)
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([resource, amount]) => [resource, canonicalQuantity(String(amount))]),
    )
  return { ...(limits && { limits: amounts(limits) }), ...(requests && { requests: amounts(requests) }) }
}

function inOrder(value: object, order: readonly string[]): object {
  const given = new Map<string, unknown>(Object.entries(value))
  return Object.fromEntries(order.filter((key) => given.get(key) !== undefined).map((key) => [key, given.get(key)]))
}
