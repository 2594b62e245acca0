/** What every step of a reconcile works with. */
import type { ChartResolver, HelmDriver } from '@reeve/helm'
import type { ReconcileRequest } from '@reeve/runtime'
import type { Collector } from '../api/collector.ts'
import type { CollectorMetrics } from '../metrics.ts'
import type { CollectorSettings } from '../settings.ts'

/** What the operator brings along. */
export interface CollectorParts {
  readonly helm: HelmDriver
  readonly charts: ChartResolver
  readonly settings: CollectorSettings
  readonly metrics: CollectorMetrics
  /** Deadline of one helm command. */
  readonly helmTimeoutMs: number
  /** How long a pending revision is left alone. */
  readonly staleAfterMs: number
}

/** The request for one Collector, and the parts. */
export interface CollectorContext extends CollectorParts {
  readonly request: ReconcileRequest<Collector>
}
