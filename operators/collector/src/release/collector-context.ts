/** What everything about a release works with. */
import type { ChartResolver, HelmDriver, ReleaseKey } from '@reeve/helm'
import type { ObjectKey } from '@reeve/kube'
import type { ResolveContext } from '@reeve/runtime/components'
import type { Collector } from '../api/collector.ts'
import type { CollectorMetrics } from '../metrics.ts'
import type { CollectorSettings } from '../settings.ts'
import type { TenancyRules } from '../tenancy/target-namespace.ts'
import type { HelmTurns } from './helm-turns.ts'
import type { ReleaseInspector } from './inspect-release.ts'
import type { ObservedRelease } from './observe-release.ts'
import type { ReleaseRecords } from './release-records.ts'

/** The commands of Helm that the operator uses. It reads release records itself. */
export type ReleaseCommands = Pick<
  HelmDriver,
  'binary' | 'render' | 'crds' | 'install' | 'upgrade' | 'rollback' | 'uninstall' | 'recover'
>

/** What the components of a Collector depend on. */
export interface CollectorDependencies {
  readonly helm: ReleaseCommands
  readonly charts: ChartResolver
  readonly settings: CollectorSettings
  readonly tenancy: TenancyRules
  readonly metrics: CollectorMetrics
  readonly records: ReleaseRecords
  readonly turns: HelmTurns
  readonly inspector: ReleaseInspector
  /** Deadline of one helm command. */
  readonly helmTimeoutMs: number
  /** How long a pending revision is not touched. */
  readonly staleAfterMs: number
  /** How often a settled release is checked. */
  readonly checkIntervalMs: number
  /** Called with what a reconcile observed, for a console. @default nobody wants to know */
  readonly onObserved?: ((collector: ObjectKey, release: ReleaseKey, observed: ObservedRelease) => void) | undefined
}

/** What components resolve and finalize with. */
export type CollectorContext = ResolveContext<Collector, CollectorDependencies>
