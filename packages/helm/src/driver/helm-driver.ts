/** What can be done to releases. Operators depend on this; {@link Helm} is the implementation that starts helm. */
import type { Impersonation } from '@reeve/kube'
import type { HelmBinary } from '../binary/helm-binary.ts'
import type { ChartFile } from '../chart/chart-crds.ts'
import type { Release, ReleaseKey, ReleaseSummary, RevisionSummary } from '../release/release.ts'
import type { ManifestChange } from './manifest-changes.ts'
import type { RecoverableRevision, RecoveryPlan } from './plan-recovery.ts'

/** Values for a chart: an object, or the text of a YAML document, which reaches Helm byte by byte. */
export type HelmValues = string | Readonly<Record<string, unknown>>

/** A chart on this machine: what a `ChartResolver` gives, or just a path. */
export interface ChartReference {
  readonly path: string
}

/** Options of every call. */
export interface HelmCallOptions {
  /** Ends the call and every process it started; rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /**
   * How long the call may take, not including the time in the queue. @default 60_000, or 300_000 for commands that
   * change something releases
   */
  readonly timeoutMs?: number
  /** Texts that must not appear in errors and logs, besides what is recognised anyway. */
  readonly secrets?: readonly string[]
  /**
   * Act as another account: every request of helm, those of `lookup` in templates included, is limited by its rights.
   * Needs the right to impersonate it. @default the account in the configuration of the cluster
   */
  readonly impersonate?: Impersonation
}

/** Options of what changes a release. */
export interface ChangeOptions extends HelmCallOptions {
  /**
   * Whether to wait until the objects are ready. Waiting occupies one of the few processes of the driver; an operator
   * should watch the objects instead. @default false
   */
  readonly wait?: boolean
}

/** Options of {@link HelmDriver.uninstall}. */
export interface UninstallOptions extends ChangeOptions {
  /**
   * Keep the records, the newest with the status `uninstalled`: the only inventory while objects are being deleted. Another
   * uninstall removes them. @default false
   */
  readonly keepHistory?: boolean
}

/** Options of {@link HelmDriver.install} and {@link HelmDriver.upgrade}. */
export interface DeployOptions extends ChangeOptions {
  /** Exactly these, on top of the chart's defaults; those of the release before are not reused. @default {} */
  readonly values?: HelmValues
  /** Keep every text among the values out of errors: for values that come from a Secret. @default false */
  readonly valuesAreSecret?: boolean
  /** Undo a failure: uninstall a failed install, roll back a failed upgrade. Implies `wait`. @default false */
  readonly rollbackOnFailure?: boolean
  /** Labels of the release's records; on an upgrade they are added to those there. */
  readonly labels?: Readonly<Record<string, string>>
  /** Shown in the history; visible to everyone who may read it. */
  readonly description?: string
  /** Take fields over from other managers; Helm 3 always does. @default false */
  readonly forceConflicts?: boolean
  /** Adopt existing objects that belong to no release. Needs Helm 3.17. @default false */
  readonly takeOwnership?: boolean
}

/** Options of {@link HelmDriver.install}. */
export interface InstallOptions extends DeployOptions {
  /** @default false */
  readonly createNamespace?: boolean
  /** Leave out what the chart has in `crds` folders; an upgrade always does. @default false */
  readonly skipCrds?: boolean
}

/** Options of {@link HelmDriver.upgrade}. */
export interface UpgradeOptions extends DeployOptions {
  /** How many revisions to keep. @default 10 */
  readonly historyMax?: number
}

/** Options of {@link HelmDriver.rollback}. */
export interface RollbackOptions extends ChangeOptions {
  /** How many revisions to keep. @default 10 */
  readonly historyMax?: number
  /** Take fields over from other managers; Helm 3 always does. @default false */
  readonly forceConflicts?: boolean
}

/** Options of {@link HelmDriver.template} and {@link HelmDriver.diff}. */
export interface RenderOptions extends HelmCallOptions {
  /** @default {} */
  readonly values?: HelmValues
  /** See {@link DeployOptions.valuesAreSecret}. @default false */
  readonly valuesAreSecret?: boolean
}

/** Options of {@link HelmDriver.render}. */
export interface DryRunOptions extends RenderOptions {
  /** What the release is rendered for: available to templates. */
  readonly operation: 'install' | 'upgrade'
}

/** Options of {@link HelmDriver.diff}. */
export interface DiffOptions extends RenderOptions {
  /** The current release, if the caller has read it already; saves a process. */
  readonly current?: Release
}

/** What an install or upgrade would do. */
export interface ReleaseDiff {
  readonly changes: readonly ManifestChange[]
  /** The release does not exist yet. */
  readonly isInstall: boolean
}

/** Options of {@link HelmDriver.recover}. */
export interface RecoverOptions extends RollbackOptions {
  /** Every revision, oldest first, when the caller has read them already; saves a process. */
  readonly history?: readonly RecoverableRevision[]
  /**
   * How long a pending record is not touched: its author may still be running, in this process or another.
   * @default the deadline of a change (300_000) plus the time to end it; 0 when the author is known to be dead
   */
  readonly staleAfterMs?: number
}

/** Options of {@link HelmDriver.list}. */
export interface ListReleasesOptions extends HelmCallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string
  /** Label selector over the releases' records. */
  readonly selector?: string
}

/** Options of reads of one revision. */
export interface RevisionOptions extends HelmCallOptions {
  /** @default the newest */
  readonly revision?: number
}

/**
 * The commands of Helm as typed calls. Each starts one helm process unless it says otherwise; how many run concurrently
 * is bounded. Reading releases without any process is what `decodeRelease` and `readReleases` are for.
 *
 * *Errors*: a subclass of `HelmError`, see `docs/reference.md`; the reason of the signal; and `CredentialsError` when
 * the credentials for the cluster cannot be obtained.
 */
export interface HelmDriver extends AsyncDisposable {
  readonly binary: HelmBinary
  /** Installs a release that does not exist. On failure a `failed` record stays, unless `rollbackOnFailure`. */
  install(release: ReleaseKey, chart: ChartReference, options?: InstallOptions): Promise<Release>
  /** Upgrades an existing release to a chart and values. */
  upgrade(release: ReleaseKey, chart: ChartReference, options?: UpgradeOptions): Promise<Release>
  /** Makes a new revision that equals an older one. */
  rollback(release: ReleaseKey, revision: number, options?: RollbackOptions): Promise<void>
  /** Removes a release, its objects and its history. Resolves with `false` when there was none. */
  uninstall(release: ReleaseKey, options?: UninstallOptions): Promise<boolean>
  /** Starts two processes: helm prints the chart's name and version elsewhere. */
  status(release: ReleaseKey, options?: RevisionOptions): Promise<Release>
  /** Oldest first. */
  history(release: ReleaseKey, options?: HelmCallOptions): Promise<readonly RevisionSummary[]>
  /** What the user gave; may hold secrets. */
  values(release: ReleaseKey, options?: RevisionOptions): Promise<Readonly<Record<string, unknown>>>
  /** The rendered objects; may hold secrets. */
  manifest(release: ReleaseKey, options?: RevisionOptions): Promise<string>
  /** In every state, failed and pending ones too. */
  list(options?: ListReleasesOptions): Promise<readonly ReleaseSummary[]>
  /** Renders without asking the cluster. */
  template(release: ReleaseKey, chart: ChartReference, options?: RenderOptions): Promise<string>
  /**
   * What an install or upgrade would apply, hooks included, without applying any of it: a server-side dry run, in which
   * `lookup` finds what the account may read. Templates with random parts render differently every time.
   */
  render(release: ReleaseKey, chart: ChartReference, options: DryRunOptions): Promise<Release>
  /** What an install applies first: the files in the `crds` folders of a chart and its subcharts. Starts no process. */
  crds(chart: ChartReference, options?: Pick<HelmCallOptions, 'signal'>): Promise<readonly ChartFile[]>
  /**
   * What installing or upgrading would change, without changing it: a server-side dry run beside the release. Starts a
   * second process unless `current` is given. Hooks are not part of it.
   */
  diff(release: ReleaseKey, chart: ChartReference, options?: DiffOptions): Promise<ReleaseDiff>
  /**
   * Frees a release that a crash left `pending-*` or `uninstalling`, and resolves with what was done; see
   * `planRecovery`. Starts a process for the history unless it is given, and one to act if there is need.
   */
  recover(release: ReleaseKey, options?: RecoverOptions): Promise<RecoveryPlan>
  /** Ends what runs and removes credentials from the disk. */
  close(): Promise<void>
}
