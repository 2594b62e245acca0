/** What cleaning up needs. */
import type { Clock } from '@reeve/http'
import type { Logger } from '@reeve/runtime'
import type { DynaKube } from '../../../api/latest.ts'
import type { DataPaths } from '../../data-paths.ts'
import type { Mount } from '../../mounts/mount-table.ts'

/** What is the same for all runs. */
export interface CleanupSettings {
  readonly paths: DataPaths
  /** The kernel's table of mounts. */
  readonly readMounts: () => Promise<readonly Mount[]>
  /** Whether images count for applicationMonitoring. */
  readonly hasCsiDriver: boolean
}

/** What one run needs. */
export interface CleanupContext extends CleanupSettings {
  /** All DynaKubes, from the API server itself: what is missing here loses its agents. */
  readonly listDynaKubes: () => Promise<readonly DynaKube[]>
  /** Names of the download Jobs of this node. */
  readonly listJobs: () => Promise<readonly string[]>
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}
