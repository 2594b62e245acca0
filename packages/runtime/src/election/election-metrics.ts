/** Metrics of leader election. */
import { type Metrics, noMetrics } from '../metrics/registry.ts'

/** What the elector reports. */
export interface ElectionMetrics {
  setLeading(isLeading: boolean): void
}

/**
 * Declares `leader_election_master_status` and starts it at 0: every replica shows up, leading or not.
 *
 * @param lease name of the Lease
 */
export function electionMetrics(lease: string, metrics: Metrics = noMetrics): ElectionMetrics {
  const status = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process leads: 1 leader, 0 standby.',
    labels: ['name'],
  })
  const labels = { name: lease }
  status.set(labels, 0)
  return { setLeading: (isLeading) => status.set(labels, isLeading ? 1 : 0) }
}
