/** A lock with an expiry, used for leader election. */
import type { KubeObject } from '../objects.ts'

/** `coordination.k8s.io/v1` Lease. Times have microseconds. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
    readonly preferredHolder?: string
    readonly strategy?: string
  }
}
