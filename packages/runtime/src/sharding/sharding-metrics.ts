/** Metrics of sharding. */
import { electionMetrics } from '../election/election-metrics.ts'
import { type Metrics, noMetrics } from '../metrics/registry.ts'

/** What a replica reports. */
export interface ShardingMetrics {
  held(count: number): void
  replicas(count: number): void
  lost(): void
}

/**
 * Declares the metrics, also that of leader election, so that an alert on an operator without a leader works for shards.
 *
 * @param name of the group
 */
export function shardingMetrics(name: string, shards: number, metrics: Metrics = noMetrics): ShardingMetrics {
  const gauge = (metric: string, help: string) => metrics.gauge({ name: metric, help, labels: ['name'] })
  const labels = { name }
  gauge('sharding_shards', 'Shards that all replicas together have to hold.').set(labels, shards)
  const held = gauge('sharding_shards_held', 'Shards that this replica holds.')
  const replicas = gauge('sharding_replicas', 'Replicas that this one sees, itself included.')
  const lost = metrics.counter({
    name: 'sharding_shards_lost_total',
    help: 'Shards whose lease could not be renewed in time.',
    labels: ['name'],
  })
  const election = electionMetrics(name, metrics)
  held.set(labels, 0)
  replicas.set(labels, 0)
  lost.inc(labels, 0)
  return {
    held: (count) => {
      held.set(labels, count)
      election.setLeading(count > 0)
    },
    replicas: (count) => replicas.set(labels, count),
    lost: () => lost.inc(labels),
  }
}
