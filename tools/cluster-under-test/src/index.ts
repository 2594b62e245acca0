/** @module One test, two clusters. */
export { type ClusterUnderTest, type OpenOptions, openCluster } from './cluster-under-test.ts'
export { connectionOf } from './connection.ts'
export { type Answer, RawClient, type RawRequest, type WatchLine } from './raw-client.ts'
