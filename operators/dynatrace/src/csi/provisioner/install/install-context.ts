/** What the install methods share. */
import type { KubeClient, Stored } from '@reeve/kube'
import type { RegistryClient, RegistryClientOptions } from '@reeve/oci'
import type { Logger } from '@reeve/runtime'
import type { DynaKube } from '../../../api/latest.ts'
import type { TenantClient, TenantClientOptions } from '../../../tenant/client/tenant-client.ts'
import type { DataPaths } from '../../data-paths.ts'
import type { JobSettings } from '../job-settings.ts'

/** The world outside of the cluster and the disk; tests replace it. */
export interface Connections {
  readonly connectTenant: (options: TenantClientOptions) => TenantClient
  readonly openRegistry: (options: RegistryClientOptions) => RegistryClient
}

/** What is the same for all installations of a process. */
export interface InstallSettings extends Connections {
  readonly paths: DataPaths
  readonly nodeName: string
  /** The data directory as a path of the node. */
  readonly hostDataRoot: string
  readonly jobs: JobSettings
}

/** What one installation needs. */
export interface InstallContext extends InstallSettings {
  readonly dynakube: Stored<DynaKube>
  readonly client: KubeClient
  readonly logger: Logger
  readonly signal: AbortSignal
}
