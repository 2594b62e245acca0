/** @module A Dynatrace environment: its client, the registries and archives around it. */
export * from '../archives/archive-error.ts'
export * from '../archives/install-folder.ts'
export * from '../archives/unpack-options.ts'
export { type TarCompression, unpackTar } from '../archives/unpack-tar.ts'
export { unpackZip } from '../archives/unpack-zip.ts'
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../http/defaults.ts'
export * from '../http/http-error.ts'
export type { OutboundClientOptions } from '../http/outbound-client.ts'
export type { ConfiguredProxy } from '../http/proxy-choice.ts'
export { environmentMetrics, type RequestHook, type RequestReport } from '../http/request-report.ts'
export { usableCertificates } from '../http/trusted-certificates.ts'
export * from '../oci/docker-config.ts'
export { type ImageReference, parseImageReference } from '../oci/image-reference.ts'
export type { Descriptor, ImageManifest, Platform } from '../oci/manifest.ts'
export { linuxPlatform } from '../oci/manifest.ts'
export { pullLayer } from '../oci/pull-image.ts'
export * from '../oci/registry-client.ts'
export * from '../oci/registry-error.ts'
export type { CommunicationHost } from './client/communication-hosts.ts'
export type * from './client/connection-info.ts'
export type { DownloadProgress, DownloadResult } from './client/download.ts'
export type { EnrichmentRule } from './client/enrichment-rules.ts'
export {
  createEnvironmentClient,
  type EnvironmentClient,
  type EnvironmentClientOptions,
} from './client/environment-client.ts'
export {
  EnvironmentApiError,
  EnvironmentCallError,
  EnvironmentError,
  EnvironmentResponseError,
  EnvironmentUnreadableError,
  isEnvironmentNotFound,
  isEnvironmentUnavailable,
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
export type { ClusterEntity, SettingsCount } from './client/settings.ts'
export type { ClusterIdentity, LogRule } from './client/settings-objects.ts'
export { type ActiveGateToken, TOKEN_SCOPES } from './client/tokens.ts'
