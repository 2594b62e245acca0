/** @module A typed, safe driver of the real Helm: releases, their records, and the charts they are installed from. */
export { type FindHelmOptions, findHelm } from './binary/find-helm.ts'
export { HELM_FIELD_MANAGER, type HelmBinary } from './binary/helm-binary.ts'
export { type ChartFile, chartCrds } from './chart/chart-crds.ts'
export { chartCredentials } from './chart/chart-credentials.ts'
export type * from './chart/chart-source.ts'
export { ChartStore, type ChartStoreOptions } from './chart/chart-store.ts'
export { Helm, type HelmOptions, openHelm } from './driver/helm.ts'
export type * from './driver/helm-driver.ts'
export { type ManifestChange, manifestChanges } from './driver/manifest-changes.ts'
export {
  planRecovery,
  type RecoverableRevision,
  type RecoveryConditions,
  type RecoveryPlan,
} from './driver/plan-recovery.ts'
export {
  manifestExcess,
  manifestObjects,
  type ReadManifest,
  readManifest,
  readManifests,
} from './driver/read-manifest.ts'
export * from './errors.ts'
export type * from './process/process-runner.ts'
export { runProcess } from './process/run-process.ts'
export * from './release/decode-release.ts'
export { readReleases } from './release/read-releases.ts'
export * from './release/release.ts'
export { valuesDigest } from './release/values-digest.ts'
