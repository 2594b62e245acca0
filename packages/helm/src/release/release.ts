/** Releases, as read from a Secret or from the output of helm. */

/** Names a release. Helm keeps its records in the namespace that the release is installed into. */
export interface ReleaseKey {
  readonly namespace: string
  readonly name: string
}

/** The status of a revision, as Helm names it. */
export type ReleaseStatus =
  | 'unknown'
  | 'deployed'
  | 'uninstalled'
  | 'superseded'
  | 'failed'
  | 'uninstalling'
  | 'pending-install'
  | 'pending-upgrade'
  | 'pending-rollback'

/** What `Chart.yaml` says. */
export interface ChartMetadata {
  readonly name: string
  readonly version: string
  readonly appVersion?: string
}

/** One revision of a release, complete. */
export interface Release extends ReleaseKey {
  /** Counts from 1. */
  readonly revision: number
  readonly status: ReleaseStatus
  readonly chart: ChartMetadata
  /** What the user gave, without the chart's defaults. May hold secrets. */
  readonly values: Readonly<Record<string, unknown>>
  /** The rendered objects, as a stream of YAML documents. May hold secrets. */
  readonly manifest: string
  /** What runs before and after, one manifest each; not part of the other. */
  readonly hooks: readonly string[]
  /** Helm's or the caller's sentence about this revision. */
  readonly description: string
  /** RFC 3339; absent when the record has none. */
  readonly firstDeployed?: string
  readonly lastDeployed?: string
  /** Labels that the caller gave the release. Known from a record only: helm does not print them. */
  readonly labels: Readonly<Record<string, string>>
}

/** One line of a release's history. */
export interface RevisionSummary {
  readonly revision: number
  readonly status: ReleaseStatus
  /** Chart and version in one word, such as `web-1.2.3`. */
  readonly chart: string
  readonly appVersion: string
  readonly updated: string
  readonly description: string
}

/** One line of the list of releases. */
export interface ReleaseSummary extends ReleaseKey {
  readonly revision: number
  readonly status: ReleaseStatus
  readonly chart: string
  readonly appVersion: string
  readonly updated: string
}

/**
 * Whether an operation on the release is in progress or was interrupted.
 *
 * @example
 * if (isPending(release.status)) await helm.recover(release)
 */
export function isPending(status: ReleaseStatus): boolean {
  return status === 'pending-install' || status === 'pending-upgrade' || status === 'pending-rollback'
}
