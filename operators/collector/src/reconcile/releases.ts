/** Reads releases: from cached records, and from the server before anything is done. */
import {
  decodeHistory,
  decodeRelease,
  RELEASE_SECRET_TYPE,
  type Release,
  type ReleaseKey,
  ReleaseRecordError,
  readReleaseLabels,
  releaseSelector,
} from '@reeve/helm'
import { type ObjectKey, type Secret, Secrets, type Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import { OWNER_LABEL, ownerMark } from '../decision/revision-marks.ts'
import { formatRelease } from '../release-key.ts'
import { cachedRecords, OWNER_INDEX, recordedRelease } from './cached-collectors.ts'
import type { CollectorContext } from './collector-context.ts'

/** Unpacks records once: a cached Secret is the same object until it changes, and forgotten with it. */
export class RecordReader {
  readonly #unpacked = new WeakMap<Secret, Release>()

  /** Every revision of a release that is cached, oldest first. */
  history(cache: CacheReader, release: ReleaseKey): readonly Release[] {
    const records = cachedRecords((index, value) => cache.byIndex(Secrets, index, value), release)
    const genuine = records.filter(({ type }) => type === RELEASE_SECRET_TYPE)
    return genuine.map((record) => this.#unpack(record)).sort((one, other) => one.revision - other.revision)
  }

  #unpack(record: Secret): Release {
    const known = this.#unpacked.get(record)
    if (known !== undefined) return known
    const release = decodeRelease(record)
    this.#unpacked.set(record, release)
    return release
  }
}

/** Every revision of a release as the server has it, oldest first. */
export async function liveHistory(release: ReleaseKey, context: CollectorContext): Promise<readonly Release[]> {
  return decodeHistory(await recordsOf(release, context), { release })
}

/** The same without the revisions that cannot be read: for what must not depend on them. */
export async function readableHistory(release: ReleaseKey, context: CollectorContext): Promise<readonly Release[]> {
  const records = await recordsOf(release, context)
  const readable = records.flatMap((record) => {
    try {
      return decodeHistory([record], { release })
    } catch (error) {
      if (error instanceof ReleaseRecordError) return []
      throw error
    }
  })
  return readable.toSorted((one, other) => one.revision - other.revision)
}

/** Every record of a release as the server has it. */
export async function recordsOf(
  release: ReleaseKey,
  { request }: CollectorContext,
): Promise<readonly Stored<Secret>[]> {
  const { items } = await request.client.listAll(Secrets, {
    namespace: release.namespace,
    labelSelector: releaseSelector(release.name),
    signal: request.signal,
  })
  return items.filter(({ type }) => type === RELEASE_SECRET_TYPE)
}

/** The releases that belong to a Collector, as far as the cache knows. */
export function cachedReleasesOf(collector: ObjectKey, cache: CacheReader): readonly ReleaseKey[] {
  return ownedReleases(cache.byIndex(Secrets, OWNER_INDEX, ownerMark(collector)), collector)
}

/** The releases that belong to a Collector, as the server has them, in whatever namespace. */
export async function liveReleasesOf(
  collector: ObjectKey,
  { request }: CollectorContext,
): Promise<readonly ReleaseKey[]> {
  const labelSelector = `${releaseSelector()},${OWNER_LABEL}=${ownerMark(collector)}`
  const { items } = await request.client.listAll(Secrets, { labelSelector, signal: request.signal })
  return ownedReleases(items, collector)
}

/** A release belongs to whose mark its newest revision carries: another Collector may have taken it over since. */
function ownedReleases(records: readonly Secret[], collector: ObjectKey): readonly ReleaseKey[] {
  const newest = new Map<string, { readonly release: ReleaseKey; readonly revision: number; readonly mark: string }>()
  for (const record of records) {
    const release = recordedRelease(record)
    const revision = readReleaseLabels(record.metadata)?.revision ?? 0
    if (release === undefined) continue
    const id = formatRelease(release)
    const mark = record.metadata.labels?.[OWNER_LABEL] ?? ''
    if (revision > (newest.get(id)?.revision ?? 0)) newest.set(id, { release, revision, mark })
  }
  const mine = ownerMark(collector)
  return [...newest.values()].filter(({ mark }) => mark === mine).map(({ release }) => release)
}
