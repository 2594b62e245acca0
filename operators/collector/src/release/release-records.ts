/** Reads the records that Helm keeps of a release, as the account of its namespace. */
import {
  decodeRelease,
  RELEASE_SECRET_TYPE,
  type Release,
  type ReleaseKey,
  ReleaseRecordError,
  readReleaseLabels,
  releaseSelector,
} from '@reeve/helm'
import { type ObjectKey, type Secret, Secrets, type Stored } from '@reeve/kube'
import type { ImpersonatingClient } from '@reeve/runtime/components'
import { OWNER_LABEL, ownerMark } from '../decision/revision-marks.ts'
import { formatRelease } from '../release-key.ts'

/** Releases whose records are cached; the least recently used are read again in full. */
const MAX_REMEMBERED = 1_000

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
  readonly content: Release | ReleaseRecordError
}

/**
 * Reads records, and decodes each only once: as long as nothing changes, a read costs one request for metadata and returns
 * the same objects.
 *
 * @example
 * const records = await reader.read({ namespace: 'acme', name: 'logs-eu1' }, context.clientAs(account), signal)
 */
export class ReleaseRecords {
  readonly #remembered = new Map<string, ReadonlyMap<string, ReleaseRecord>>()

  /**
   * Every record of a release, oldest revision first.
   *
   * *Errors*: those of the client, such as Forbidden when the account may not list Secrets.
   */
  async read(
    release: ReleaseKey,
    client: Pick<ImpersonatingClient, 'listAll'>,
    signal: AbortSignal,
  ): Promise<readonly ReleaseRecord[]> {
    const id = formatRelease(release)
    const selection = {
      namespace: release.namespace,
      labelSelector: releaseSelector(release.name),
      fieldSelector: `type=${RELEASE_SECRET_TYPE}`,
      signal,
    }
    const known = this.#remembered.get(id) ?? new Map<string, ReleaseRecord>()
    this.#remembered.delete(id)
    if (known.size > 0) {
      const { items } = await client.listAll(Secrets, { ...selection, metadataOnly: true })
      if (items.length === known.size && items.every(({ metadata }) => isCurrent(known.get(metadata.uid), metadata))) {
        return this.#remember(id, [...known.values()])
      }
    }
    const { items } = await client.listAll(Secrets, selection)
    const records = items.flatMap((secret) => {
      const before = known.get(secret.metadata.uid)
      return before !== undefined && isCurrent(before, secret.metadata) ? before : decode(secret, release)
    })
    return this.#remember(
      id,
      records.toSorted((one, other) => one.revision - other.revision),
    )
  }

  #remember(id: string, records: readonly ReleaseRecord[]): readonly ReleaseRecord[] {
    if (records.length > 0) this.#remembered.set(id, new Map(records.map((record) => [record.uid, record])))
    for (const oldest of [...this.#remembered.keys()].slice(0, -MAX_REMEMBERED)) this.#remembered.delete(oldest)
    return records
  }
}

/**
 * The revisions in the records, oldest first.
 *
 * *Errors*: `ReleaseRecordError` for the first record that cannot be read.
 */
export function historyOf(records: readonly ReleaseRecord[]): readonly Release[] {
  return records.map(({ content }) => {
    if (content instanceof ReleaseRecordError) throw content
    return content
  })
}

/** The revisions that can be read, oldest first: for decisions that must not depend on the others. */
export function readableHistory(records: readonly ReleaseRecord[]): readonly Release[] {
  return records.flatMap(({ content }) => (content instanceof ReleaseRecordError ? [] : [content]))
}

/**
 * Whether a release belongs to a Collector: its newest revision has the mark of the Collector. Another one may have
 * taken over a release that it once made.
 */
export function isOwnedBy(records: readonly ReleaseRecord[], collector: ObjectKey): boolean {
  return records.at(-1)?.owner === ownerMark(collector)
}

function isCurrent(record: ReleaseRecord | undefined, { resourceVersion }: Stored<Secret>['metadata']): boolean {
  return record?.resourceVersion === resourceVersion
}

/** Nothing for a Secret that Helm does not count as a record either. */
function decode(secret: Stored<Secret>, { namespace }: ReleaseKey): readonly ReleaseRecord[] {
  const { uid, resourceVersion, name, labels } = secret.metadata
  const revision = readReleaseLabels(secret.metadata)?.revision
  if (revision === undefined) return []
  const key = { namespace, name }
  return [{ uid, resourceVersion, key, owner: labels?.[OWNER_LABEL], revision, content: contentOf(secret) }]
}

function contentOf(secret: Secret): Release | ReleaseRecordError {
  try {
    return decodeRelease(secret)
  } catch (error) {
    if (error instanceof ReleaseRecordError) return error
    throw error
  }
}
