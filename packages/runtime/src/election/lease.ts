/** What candidates write into the Lease they compete for. */
import type { Lease } from '@reeve/kube'
import { formatMicroTime } from '../timestamp.ts'

/** The holder of the lease and when it expires. An empty `holderIdentity` means none. */
export type LeaseSpec = NonNullable<Lease['spec']>

/** The spec with which `identity` takes the lease over, or keeps it when it is the holder already. */
export function heldSpec(
  previous: LeaseSpec | undefined,
  identity: string,
  leaseDurationMs: number,
  nowMs: number,
): LeaseSpec {
  const now = formatMicroTime(nowMs)
  const isRenewal = previous?.holderIdentity === identity
  const transitions = previous?.leaseTransitions ?? 0
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.max(1, Math.ceil(leaseDurationMs / 1_000)),
    acquireTime: isRenewal ? (previous.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: isRenewal || previous === undefined ? transitions : transitions + 1,
  }
}

/** The spec of a released lease. */
export function releasedSpec(previous: LeaseSpec, nowMs: number): LeaseSpec {
  const now = formatMicroTime(nowMs)
  return { ...previous, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
}

/** True when the lease was renewed since `known`. */
export function hasMoved(known: LeaseSpec | undefined, seen: LeaseSpec | undefined): boolean {
  return (
    known?.holderIdentity !== seen?.holderIdentity ||
    known?.renewTime !== seen?.renewTime ||
    known?.acquireTime !== seen?.acquireTime ||
    known?.leaseTransitions !== seen?.leaseTransitions
  )
}
