/** @module A typed, safe driver of the real Helm: releases, their records, and the charts they are made from. */
export type { HelmBinary } from './binary/helm-binary.ts'
export type * from './chart/chart-source.ts'
export type * from './driver/helm-driver.ts'
export type { ManifestChange } from './driver/manifest-changes.ts'
export type { RecoveryPlan } from './driver/plan-recovery.ts'
export * from './errors.ts'
export type * from './process/process-runner.ts'
export * from './release/release.ts'
