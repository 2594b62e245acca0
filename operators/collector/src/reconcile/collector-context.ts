/** What every step of a reconcile works with. */
import type { ChartResolver, HelmDriver } from '@reeve/helm'
import type { ReconcileRequest } from '@reeve/runtime/controller'
import type { Collector } from '../api/collector.ts'
import type { CollectorMetrics } from '../metrics.ts'
import type { CollectorSettings } from '../settings.ts'
import type { TenancyRules } from '../tenancy/target-namespace.ts'
import type { ReleaseInspector } from './inspect-release.ts'

/** What the operator uses of Helm: the commands that change releases, and what they would do. It reads their records itself. */
export type ReleaseCommands = Pick<
  HelmDriver,
  'binary' | 'render' | 'crds' | 'install' | 'upgrade' | 'rollback' | 'uninstall' | 'recover'
>

/** What the operator brings along. */
export interface CollectorParts {
  readonly helm: ReleaseCommands
  readonly charts: ChartResolver
  readonly settings: CollectorSettings
  readonly tenancy: TenancyRules
  readonly metrics: CollectorMetrics
  readonly inspector: ReleaseInspector
  /** Deadline of one helm command. */
  readonly helmTimeoutMs: number
  /** How long a pending revision is left alone. */
  readonly staleAfterMs: number
  /** How often a settled Collector is looked at: sources, Secrets and most kinds of objects are not watched. */
  readonly resyncMs: number
}

/** The request for one Collector, and the parts. */
export interface CollectorContext extends CollectorParts {
  readonly request: ReconcileRequest<Collector>
}
