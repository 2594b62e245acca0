/** @module The client of a Dynatrace tenant. */
export { agentFileMode } from './client/agent-file-mode.ts'
export type { CommunicationHost } from './client/communication-hosts.ts'
export type * from './client/connection-info.ts'
export type { DownloadProgress, DownloadResult } from './client/download.ts'
export type { EnrichmentRule } from './client/enrichment-rules.ts'
export {
  isTenantNotFound,
  isTenantUnavailable,
  TenantApiError,
  TenantCallError,
  TenantError,
  TenantResponseError,
  TenantUnreadableError,
} from './client/errors.ts'
export type { EntityEvent, HostSearch } from './client/hosts.ts'
export { imageUri, type PublicImage } from './client/images.ts'
export * from './client/installer-target.ts'
export type * from './client/installers.ts'
export type { ConnectionSetting, KubernetesConnection } from './client/platform/connection-settings.ts'
export type * from './client/platform/edge-connects.ts'
export {
  createPlatformClient,
  type PlatformClient,
  type PlatformClientOptions,
} from './client/platform/platform-client.ts'
export type { ProcessModuleConfig, ProcessModuleProperty } from './client/process-module-config.ts'
export { tenantMetrics } from './client/request-metrics.ts'
export type { ClusterEntity, SettingsCount } from './client/settings.ts'
export type { ClusterIdentity, LogRule } from './client/settings-objects.ts'
export {
  createTenantClient,
  type TenantClient,
  type TenantClientOptions,
} from './client/tenant-client.ts'
export { type ActiveGateToken, TOKEN_SCOPES } from './client/tokens.ts'
