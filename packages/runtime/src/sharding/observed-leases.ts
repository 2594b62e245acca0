/** When Leases were last seen to move, by the clock of this process: clocks of different machines are never compared. */
import type { Lease, Stored } from '@reeve/kube'
import { hasMoved, type LeaseSpec } from '../election/lease.ts'
import type { Instant, TimeSource } from '../election/time-source.ts'

interface Observation {
  readonly spec: LeaseSpec | undefined
  readonly at: Instant
}

/** *Guarantees*: a Lease counts as silent only after it was watched for that long; those that are gone are forgotten. */
export class ObservedLeases {
  readonly #time: TimeSource
  #seen = new Map<string, Observation>()

  constructor(time: TimeSource) {
    this.#time = time
  }

  /** Takes note of all Leases, as a list shows them. */
  observe(leases: readonly Stored<Lease>[]): void {
    const at = this.#time.now()
    this.#seen = new Map(
      leases.map(({ metadata: { uid }, spec }) => {
        const known = this.#seen.get(uid)
        return [uid, known === undefined || hasMoved(known.spec, spec) ? { spec, at } : known]
      }),
    )
  }

  /** For how long a Lease has not moved. */
  silentMs({ metadata: { uid } }: Stored<Lease>): number {
    const known = this.#seen.get(uid)
    return known === undefined ? 0 : this.#time.atLeastSince(known.at)
  }
}
