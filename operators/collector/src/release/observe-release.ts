/** Reads what is known of a release: its revisions and its objects, all as the account of its namespace. */
import { HelmError, type ReleaseKey } from '@reeve/helm'
import { isForbidden, isNotFound, type Namespace, Namespaces, objectKey, type ServiceAccountKey } from '@reeve/kube'
import type { Collector } from '../api/collector.ts'
import { formatRelease, isReleaseKey } from '../release-key.ts'
import { accountOf, as, describeAccount } from '../tenancy/service-account.ts'
import type { CollectorContext } from './collector-context.ts'
import { type Failure, failureOf } from './failure.ts'
import { NOTHING_TO_REPORT, type ReleaseReport } from './inspect-release.ts'
import { historyOf, isOwnedBy, type RecordedRelease, type ReleaseRecord } from './release-records.ts'

/** What is known of a release. */
export interface ObservedRelease {
  /** `forbidden`: the account may not read the records. `unreadable`: one of them cannot be decoded. */
  readonly records: 'read' | 'forbidden' | 'unreadable'
  /** Every revision, oldest first; empty when there are none or they are unknown. */
  readonly history: readonly RecordedRelease[]
  /** Whether the newest revision was created for this Collector. */
  readonly isOwned: boolean
  readonly workloads: ReleaseReport
  /** Why the records are unknown. */
  readonly failure?: Failure
}

/** A release that is not installed. */
export const NOT_INSTALLED: ObservedRelease = {
  records: 'read',
  history: [],
  isOwned: false,
  workloads: NOTHING_TO_REPORT,
}

/**
 * Reads the records and objects of a release.
 *
 * *Errors*: those of the API server, unless it is the account that may not read.
 */
export async function observeRelease(release: ReleaseKey, context: CollectorContext): Promise<ObservedRelease> {
  const { primary } = context
  let records: readonly ReleaseRecord[] = []
  try {
    records = await readRecords(release, context)
    const history = historyOf(records)
    const workloads = await inspect(history, context)
    return { records: 'read', history, isOwned: isOwnedBy(records, objectKey(primary)), workloads }
  } catch (error) {
    if (isForbidden(error)) {
      return { ...NOT_INSTALLED, records: 'forbidden', failure: forbidden(release, error, context) }
    }
    if (!(error instanceof HelmError)) throw error
    const isOwned = isOwnedBy(records, objectKey(primary))
    return { ...NOT_INSTALLED, records: 'unreadable', isOwned, failure: failureOf(error) }
  }
}

/** The failure that a 403 on release records means. */
export function forbidden(release: ReleaseKey, error: Error, context: CollectorContext): Failure {
  const account = describeAccount(accountIn(release.namespace, context))
  const message =
    `the records of release ${formatRelease(release)} cannot be read: ${error.message}; ` +
    `bind a role to ${account} that may manage Secrets and what the chart contains`
  return { reason: 'HelmForbidden', message }
}

/** The records of a release, oldest first. */
export function readRecords(release: ReleaseKey, context: CollectorContext): Promise<readonly ReleaseRecord[]> {
  const { dependencies, signal } = context
  const client = context.clientAs(as(accountIn(release.namespace, context)).impersonate)
  return dependencies.records.read(release, client, signal)
}

/** Compares the objects of the deployed revision with its manifest. */
export async function inspect(history: readonly RecordedRelease[], context: CollectorContext): Promise<ReleaseReport> {
  const deployed = history.findLast(({ status }) => status === 'deployed')
  if (deployed === undefined) return NOTHING_TO_REPORT
  const { dependencies, clock, signal } = context
  const client = context.clientAs(as(accountIn(deployed.namespace, context)).impersonate)
  return dependencies.inspector.inspect(deployed, { client, signal, now: clock.now() })
}

/** The account that everything about the releases of a Collector in a namespace is done as. */
export function accountIn(
  namespace: string,
  { primary, dependencies }: Pick<CollectorContext, 'primary' | 'dependencies'>,
): ServiceAccountKey {
  return { namespace, name: accountOf(primary.spec, dependencies.settings) }
}

/** The Namespace of that name. Read from the API server if the cache does not have it. */
export async function findNamespace(name: string, context: CollectorContext): Promise<Namespace | undefined> {
  return context.cache.get(Namespaces, { name }) ?? liveNamespace(name, context)
}

/** The Namespace of that name as the API server has it. */
export async function liveNamespace(
  name: string,
  { client, signal }: Pick<CollectorContext, 'client' | 'signal'>,
): Promise<Namespace | undefined> {
  try {
    return await client.get(Namespaces, { name }, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The releases that a Collector has made or was about to make. */
export function recordedReleases({ status }: Collector): readonly ReleaseKey[] {
  return (status?.releases ?? []).filter(isReleaseKey)
}

/** Whether a Collector has made a release, or was about to. */
export function isRecorded(collector: Collector, release: ReleaseKey): boolean {
  return recordedReleases(collector).some((recorded) => formatRelease(recorded) === formatRelease(release))
}
