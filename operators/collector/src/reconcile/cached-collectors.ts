/** What the operator caches, and which Collectors a change concerns. */
import { type ReleaseKey, readReleaseLabels } from '@reeve/helm'
import {
  formatKey,
  type KubeObject,
  Namespaces,
  type ObjectKey,
  objectKey,
  type Secret,
  type Stored,
} from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import type { Indexer } from '@reeve/runtime/cache'
import { type Collector, Collectors } from '../api/collector.ts'
import { OWNER_LABEL, ownerMark } from '../decision/revision-marks.ts'
import { formatRelease, releaseKeyOf } from '../release-key.ts'
import { type TenancyRules, targetProblem } from '../tenancy/target-namespace.ts'

const RELEASE_INDEX = 'release'
const MARK_INDEX = 'mark'
const TARGET_INDEX = 'target'

/** Indexes of the informer of Collectors. */
export const COLLECTOR_INDEXERS: Readonly<Record<string, Indexer<Collector>>> = {
  [RELEASE_INDEX]: ({ spec }) => [formatRelease(releaseKeyOf(spec))],
  [MARK_INDEX]: (collector) => [ownerMark(objectKey(collector))],
  [TARGET_INDEX]: ({ spec }) => [releaseKeyOf(spec).namespace],
}

/** Name of the index of release records by the mark of their Collector. */
export const OWNER_INDEX = 'collector'

/** Indexes of the informer of release records. */
export const RECORD_INDEXERS: Readonly<Record<string, Indexer<Secret>>> = {
  [OWNER_INDEX]: ({ metadata }) => [metadata.labels?.[OWNER_LABEL] ?? ''],
  [RELEASE_INDEX]: (secret) => {
    const release = recordedRelease(secret)
    return release === undefined ? [] : [formatRelease(release)]
  },
}

/** The release that a record belongs to, from its labels. */
export function recordedRelease({ metadata }: Secret): ReleaseKey | undefined {
  const labels = readReleaseLabels(metadata)
  return labels === undefined || metadata.namespace === undefined
    ? undefined
    : { namespace: metadata.namespace, name: labels.name }
}

/**
 * The Collectors that may ask for a release and do, the one it belongs to first: the oldest, and of equals the first by
 * name. One that may not target the namespace stands in nobody's way.
 */
export function claimants(
  cache: CacheReader,
  release: ReleaseKey,
  tenancy: TenancyRules,
): readonly Stored<Collector>[] {
  const target = cache.get(Namespaces, { name: release.namespace })
  const entitled = askers(cache, release).filter((asker) => targetProblem(asker, target, tenancy) === undefined)
  return entitled.toSorted((one, other) => {
    const age = (one.metadata.creationTimestamp ?? '').localeCompare(other.metadata.creationTimestamp ?? '')
    return age === 0 ? formatKey(objectKey(one)).localeCompare(formatKey(objectKey(other))) : age
  })
}

function askers(cache: CacheReader, release: ReleaseKey): readonly Stored<Collector>[] {
  return cache.byIndex(Collectors, RELEASE_INDEX, formatRelease(release))
}

/** The Collectors that target a namespace: whether they may can change with it. */
export function collectorsOfNamespace({ metadata }: KubeObject, cache: CacheReader): readonly ObjectKey[] {
  return cache.byIndex(Collectors, TARGET_INDEX, metadata.name ?? '').map((collector) => objectKey(collector))
}

/** The Collectors that a release record concerns: who asks for the release, and who made it. */
export function collectorsOfRecord(secret: Stored<Secret>, cache: CacheReader): readonly ObjectKey[] {
  const release = recordedRelease(secret)
  if (release === undefined) return []
  const makers = cache.byIndex(Collectors, MARK_INDEX, secret.metadata.labels?.[OWNER_LABEL] ?? '')
  return [...askers(cache, release), ...makers].map((collector) => objectKey(collector))
}

/** The Collectors that an object of a release concerns; Helm notes the release on everything it makes. */
export function collectorsOfObject({ metadata }: KubeObject, cache: CacheReader): readonly ObjectKey[] {
  const name = metadata.annotations?.['meta.helm.sh/release-name']
  const namespace = metadata.annotations?.['meta.helm.sh/release-namespace']
  if (name === undefined || namespace === undefined) return []
  return askers(cache, { namespace, name }).map((collector) => objectKey(collector))
}

/** The others that ask for the same release as a Collector: when it goes or moves away, it may be theirs. */
export function rivals(collector: Stored<Collector>, cache: CacheReader): readonly ObjectKey[] {
  return askers(cache, releaseKeyOf(collector.spec))
    .filter(({ metadata }) => metadata.uid !== collector.metadata.uid)
    .map((rival) => objectKey(rival))
}

/** The release records of a release that are cached. */
export function cachedRecords<T extends Secret>(
  byIndex: (index: string, value: string) => readonly T[],
  release: ReleaseKey,
): readonly T[] {
  return byIndex(RELEASE_INDEX, formatRelease(release))
}
