/** What the operator caches of Collectors, and which of them a change concerns. */
import type { ReleaseKey } from '@reeve/helm'
import { formatKey, type KubeObject, Namespaces, type ObjectKey, objectKey, type Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import type { Indexer } from '@reeve/runtime/cache'
import { type Collector, Collectors } from './api/collector.ts'
import { formatRelease, releaseKeyOf } from './release-key.ts'
import { type TenancyRules, targetProblem } from './tenancy/target-namespace.ts'

const RELEASE_INDEX = 'release'
const TARGET_INDEX = 'target'

/** Indexes of the informer of Collectors. */
export const COLLECTOR_INDEXERS: Readonly<Record<string, Indexer<Collector>>> = {
  [RELEASE_INDEX]: ({ spec }) => [formatRelease(releaseKeyOf(spec))],
  [TARGET_INDEX]: ({ spec }) => [releaseKeyOf(spec).namespace],
}

/**
 * The Collectors that declare a release and are allowed to, its owner first: the oldest, and of equals the first
 * by name. One that may not target the namespace does not count.
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

/** The Collectors that target a namespace: whether they may depends on it. */
export function collectorsOfNamespace({ metadata }: KubeObject, cache: CacheReader): readonly ObjectKey[] {
  return cache.byIndex(Collectors, TARGET_INDEX, metadata.name ?? '').map((collector) => objectKey(collector))
}

/** The other Collectors that declare the same release: when this one is deleted or moves away, one of them may own it. */
export function rivals(collector: Stored<Collector>, cache: CacheReader): readonly ObjectKey[] {
  return askers(cache, releaseKeyOf(collector.spec))
    .filter(({ metadata }) => metadata.uid !== collector.metadata.uid)
    .map((rival) => objectKey(rival))
}
