/** @module One test, two clusters. */
export { type ClusterUnderTest, type OpenOptions, openCluster } from './cluster-under-test.ts'
export {
  accountToken,
  redirectConversion,
  redirectWebhooks,
  runManager,
  type WebhookServerAddress,
} from './installed-operator.ts'
export { connectionOf, RawClient, type RawRequest, type RawResponse, type WatchLine } from './raw-client.ts'
export { type ReadyService, startReadyService } from './ready-service.ts'
export { trustAuthority } from './trusted-authority.ts'
