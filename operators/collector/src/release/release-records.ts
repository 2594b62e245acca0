/** Reads the records that Helm keeps of a release, as the account of its namespace. */
import {
  decodeRelease,
  manifestExcess,
  RELEASE_SECRET_TYPE,
  type Release,
  type ReleaseKey,
  ReleaseRecordError,
  readReleaseLabels,
  releaseSelector,
} from '@reeve/helm'
import { isNotFound, type ObjectKey, type Secret, Secrets, type Stored } from '@reeve/kube'
import type { ImpersonatingClient } from '@reeve/runtime/components'
import { OWNER_LABEL, ownerMark } from '../decision/revision-marks.ts'
import { formatRelease } from '../release-key.ts'

/** Records of one release. Helm keeps ten. */
const MAX_RECORDS = 50

/** Characters of all manifests and hooks of one release. */
const MAX_RELEASE_LENGTH = 2 * 1024 * 1024

/** Characters of all that is cached; the least recently used releases are read again. */
const MAX_CACHED_LENGTH = 32 * 1024 * 1024

/** Of a record besides its manifest. */
const RECORD_LENGTH = 1_024

/** A revision of a release; values are not needed. */
export type RecordedRelease = Omit<Release, 'values'>

/** One revision of a release as the cluster stores it. */
export interface ReleaseRecord {
  readonly uid: string
  readonly resourceVersion: string
  /** Of the Secret. */
  readonly key: ObjectKey
  /** The mark of the Collector that made the revision. */
  readonly owner: string | undefined
  readonly revision: number
  /** The content of the record, or why it cannot be read. */
  readonly content: RecordedRelease | ReleaseRecordError
}

/**
 * Reads records, and decodes each only once: as long as nothing changes, a read costs one request for metadata and returns
 * the same objects. Only records that have changed are fetched, one at a time: together they may be hundreds of MiB.
 *
 * @example
 * const records = await reader.read({ namespace: 'acme', name: 'logs-eu1' }, context.clientAs(account), signal)
 */
export class ReleaseRecords {
  readonly #cached = new Map<string, ReadonlyMap<string, ReleaseRecord>>()
  #cachedLength = 0

  /**
   * Every record of a release, oldest revision first. Those beyond the limits of a release have an error as their content.
   *
   * *Errors*: those of the client, such as Forbidden when the account may not list Secrets.
   */
  async read(
    release: ReleaseKey,
    client: Pick<ImpersonatingClient, 'get' | 'list'>,
    signal: AbortSignal,
  ): Promise<readonly ReleaseRecord[]> {
    const id = formatRelease(release)
    const { items, metadata: page } = await client.list(Secrets, {
      namespace: release.namespace,
      labelSelector: releaseSelector(release.name),
      fieldSelector: `type=${RELEASE_SECRET_TYPE}`,
      metadataOnly: true,
      limit: MAX_RECORDS,
      signal,
    })
    const known = this.#cached.get(id) ?? new Map<string, ReleaseRecord>()
    const records: ReleaseRecord[] = []
    let length = 0
    for (const { metadata } of items.toSorted((one, other) => revisionOf(one) - revisionOf(other))) {
      // Helm does not count others as records either.
      if (readReleaseLabels(metadata) === undefined) continue
      const before = known.get(metadata.uid)
      const excess = excessOf(release, Boolean(page.continue), length)
      const record =
        excess !== undefined
          ? recordOf(metadata, release, excess)
          : before?.resourceVersion === metadata.resourceVersion
            ? before
            : await fetchRecord(metadata, release, client, signal)
      if (record !== undefined) records.push(record)
      length += record === undefined ? 0 : lengthOf(record)
    }
    this.#cache(id, records)
    return records
  }

  #cache(id: string, records: readonly ReleaseRecord[]): void {
    this.#drop(id)
    if (records.length === 0) return
    this.#cached.set(id, new Map(records.map((record) => [record.uid, record])))
    this.#cachedLength += total(records)
    for (const oldest of this.#cached.keys()) {
      if (this.#cachedLength <= MAX_CACHED_LENGTH) return
      this.#drop(oldest)
    }
  }

  #drop(id: string): void {
    this.#cachedLength -= total(this.#cached.get(id)?.values() ?? [])
    this.#cached.delete(id)
  }
}

/**
 * The revisions in the records, oldest first.
 *
 * *Errors*: `ReleaseRecordError` for the first record that cannot be read.
 */
export function historyOf(records: readonly ReleaseRecord[]): readonly RecordedRelease[] {
  return records.map(({ content }) => {
    if (content instanceof ReleaseRecordError) throw content
    return content
  })
}

/** The revisions that can be read, oldest first: for decisions that must not depend on the others. */
export function readableHistory(records: readonly ReleaseRecord[]): readonly RecordedRelease[] {
  return records.flatMap(({ content }) => (content instanceof ReleaseRecordError ? [] : [content]))
}

/**
 * Whether a release belongs to a Collector: its newest revision has the mark of the Collector. Another one may have
 * taken over a release that it once made.
 */
export function isOwnedBy(records: readonly ReleaseRecord[], collector: ObjectKey): boolean {
  return records.at(-1)?.owner === ownerMark(collector)
}

/** Why Helm is not started on a release: one of its records costs too much to read. Nothing if none does. */
export function excessIn(records: readonly ReleaseRecord[]): ReleaseRecordError | undefined {
  const errors = records.flatMap(({ content }) => (content instanceof ReleaseRecordError ? [content] : []))
  return errors.find(({ exceedsLimits }) => exceedsLimits)
}

type RecordMetadata = Stored<Secret>['metadata']

function revisionOf({ metadata }: { readonly metadata: RecordMetadata }): number {
  return readReleaseLabels(metadata)?.revision ?? 0
}

function excessOf(release: ReleaseKey, hasMore: boolean, length: number): ReleaseRecordError | undefined {
  const problem = hasMore
    ? `more than ${MAX_RECORDS} records`
    : length > MAX_RELEASE_LENGTH
      ? `records with more than ${MAX_RELEASE_LENGTH} characters of manifests`
      : undefined
  if (problem === undefined) return undefined
  return new ReleaseRecordError(
    `release ${formatRelease(release)} has ${problem}; delete the Secrets of old revisions`,
    { exceedsLimits: true },
  )
}

function total(records: Iterable<ReleaseRecord>): number {
  let sum = 0
  for (const record of records) sum += lengthOf(record)
  return sum
}

function lengthOf({ content }: ReleaseRecord): number {
  if (content instanceof ReleaseRecordError) return RECORD_LENGTH
  return content.hooks.reduce((sum, { length }) => sum + length, RECORD_LENGTH + content.manifest.length)
}

function recordOf(
  metadata: RecordMetadata,
  { namespace }: ReleaseKey,
  content: ReleaseRecord['content'],
): ReleaseRecord {
  const { uid, resourceVersion, name, labels } = metadata
  const revision = revisionOf({ metadata })
  return { uid, resourceVersion, key: { namespace, name }, owner: labels?.[OWNER_LABEL], revision, content }
}

/** Nothing if it is gone, or is no record any more. */
async function fetchRecord(
  { name }: RecordMetadata,
  release: ReleaseKey,
  client: Pick<ImpersonatingClient, 'get'>,
  signal: AbortSignal,
): Promise<ReleaseRecord | undefined> {
  try {
    const secret = await client.get(Secrets, { namespace: release.namespace, name }, { signal })
    const isRecord = readReleaseLabels(secret.metadata)?.name === release.name
    return isRecord ? recordOf(secret.metadata, release, contentOf(secret)) : undefined
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function contentOf(secret: Secret): ReleaseRecord['content'] {
  try {
    const { values: _unused, ...release } = decodeRelease(secret)
    const excess = manifestExcess([release.manifest, ...release.hooks])
    if (excess === undefined) return release
    const { namespace, name } = secret.metadata
    const message = `release record ${namespace}/${name} contains a manifest that ${excess}; delete the Secret`
    return new ReleaseRecordError(message, { exceedsLimits: true })
  } catch (error) {
    if (error instanceof ReleaseRecordError) return error
    throw error
  }
}
