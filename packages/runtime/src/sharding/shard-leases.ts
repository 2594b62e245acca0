/** The Leases of a sharded operator: one for each shard, one for each replica. */
import { createHash } from 'node:crypto'
import type { Lease, Stored } from '@reeve/kube'
import type { LeaseMarks } from '../election/lease-lock.ts'

/** Selects all Leases of one operator. */
export const GROUP_LABEL = 'reeve.dev/sharding'

/** The number of shards that the holder works with: keys belong to other shards with another number. */
const SHARDS_ANNOTATION = 'reeve.dev/shards'

/** The name of the Lease of a shard. */
export const shardLeaseName = (group: string, shard: number): string => `${group}-shard-${shard}`

/** The name of the Lease with which a replica shows that it is alive. Identities may have any characters. */
export function replicaLeaseName(group: string, identity: string): string {
  return `${group}-replica-${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`
}

/** What every Lease of the group carries. */
export function marksOf(group: string, shards: number): LeaseMarks {
  return { labels: { [GROUP_LABEL]: group }, annotations: { [SHARDS_ANNOTATION]: String(shards) } }
}

/** The Leases of a group, as one list shows them. */
export interface ShardLeases {
  /** By shard; also of shards that there are only with another number of them. */
  readonly shards: ReadonlyMap<number, Stored<Lease>>
  readonly replicas: readonly Stored<Lease>[]
}

/** Sorts the items of a list. */
export function sortLeases(group: string, items: readonly Stored<Lease>[]): ShardLeases {
  const prefix = `${group}-shard-`
  const shards = new Map<number, Stored<Lease>>()
  const replicas: Stored<Lease>[] = []
  for (const lease of items) {
    const { name } = lease.metadata
    if (name.startsWith(`${group}-replica-`)) replicas.push(lease)
    else if (name.startsWith(prefix)) shards.set(Number(name.slice(prefix.length)), lease)
  }
  return { shards, replicas }
}

/** The number of shards that a Lease was written with. */
export const layoutOf = ({ metadata }: Stored<Lease>): string | undefined => metadata.annotations?.[SHARDS_ANNOTATION]

/** The holder; empty when there is none. */
export const holderOf = ({ spec }: Lease): string => spec?.holderIdentity ?? ''
