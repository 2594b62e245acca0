/** Compares the objects of a release with its manifest: how they fare, which are missing, which somebody has changed. */
import { type Release, readManifest } from '@reeve/helm'
import {
  DaemonSets,
  Deployments,
  type Impersonation,
  isForbidden,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
  Services,
  StatefulSets,
  UnknownKindError,
  type UnknownObject,
} from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import type { Health } from '../decision/decide.ts'
import { driftedFields } from '../drift/field-drift.ts'
import { readinessOf } from './readiness.ts'

/** The kinds whose objects are watched; a change of theirs is seen at once, of others at the next resync. */
export const WATCHED = [Deployments, StatefulSets, DaemonSets, Services] as const

/** Helm labels everything it makes. */
export const MADE_BY_HELM = 'app.kubernetes.io/managed-by=Helm'

/** What helm has written a moment ago may not have reached the cache; until then the server is asked. */
const FRESH_MS = 10_000

/** Differences from the manifest of a release. */
export interface Drift {
  /** Such as `Service web`. */
  readonly missing: readonly string[]
  /** Such as `Deployment web (spec.replicas)`. */
  readonly changed: readonly string[]
}

/** How a release fares. */
export interface ReleaseReport extends Drift {
  readonly health: Health
  /** Such as `Deployment web: 1 of 2 replicas ready`; empty when all are ready. */
  readonly notes: readonly string[]
}

/** What is said of a release that is not there. */
export const NOTHING_TO_REPORT: ReleaseReport = { health: 'ready', notes: [], missing: [], changed: [] }

/** Where to look. */
export interface InspectionContext {
  readonly cache: CacheReader
  readonly client: KubeClient
  /** Whom the server is asked as. */
  readonly impersonate: Impersonation
  readonly now: number
  readonly signal: AbortSignal
}

/** What is known of one object: absent, not to be seen, or there. */
type Sighting = { readonly live: KubeObject } | 'missing' | 'hidden'

interface RememberedDrift extends Drift {
  readonly seenAt: number
}

/**
 * Looks at releases.
 *
 * Objects of the kinds in {@link WATCHED} are read from the cache. The others are asked for one by one, and no more often
 * than `resyncMs` for the same revision: a settled release costs that many reads, no write and no helm. What is remembered
 * goes with the release record that it is about.
 *
 * @example
 * const inspector = new ReleaseInspector({ fieldManager: 'helm', resyncMs: 300_000 })
 * const { health, missing, changed } = await inspector.inspect(release, { cache, client, now, signal })
 */
export class ReleaseInspector {
  readonly #fieldManager: string
  readonly #resyncMs: number
  readonly #objects = new WeakMap<Release, readonly UnknownObject[]>()
  readonly #unwatched = new WeakMap<Release, RememberedDrift>()

  constructor(options: { readonly fieldManager: string; readonly resyncMs: number }) {
    this.#fieldManager = options.fieldManager
    this.#resyncMs = options.resyncMs
  }

  /** Looks at the objects of a revision that is deployed. */
  async inspect(release: Release, context: InspectionContext): Promise<ReleaseReport> {
    const isFresh = context.now - Date.parse(release.lastDeployed ?? '') < FRESH_MS
    const [notes, missing, changed]: [string[], string[], string[]] = [[], [], []]
    let isStuck = false
    for (const [object, resource] of this.#watched(release)) {
      const found = await this.#findWatched(object, resource, release, isFresh, context)
      this.#compare(object, found, missing, changed)
      if (typeof found === 'string') continue
      const { note, isStuck: isThisStuck } = readinessOf(found.live)
      if (note !== undefined) notes.push(`${nameOf(object)}: ${note}`)
      isStuck ||= isThisStuck
    }
    const others = await this.#inspectUnwatched(release, context)
    return {
      health: isStuck ? 'stuck' : notes.length === 0 ? 'ready' : 'progressing',
      notes,
      missing: [...missing, ...others.missing],
      changed: [...changed, ...others.changed],
    }
  }

  /**
   * From the cache, unless that may be behind: what looks new, missing or not as it should be is asked for. A connection
   * that died without a word shows old objects for a minute, and they must not cause an alarm or an upgrade.
   */
  async #findWatched(
    object: UnknownObject,
    resource: Resource<KubeObject>,
    release: Release,
    isFresh: boolean,
    { cache, client, signal, impersonate }: InspectionContext,
  ): Promise<Sighting> {
    const key = keyOf(object, resource, release)
    // The cache shows what the operator may see: of other namespaces only what the account may see counts.
    const cached = key.namespace === release.namespace ? cache.get(resource, key) : undefined
    if (cached !== undefined && !isFresh && this.#isAsExpected(object, cached)) return { live: cached }
    return sighting(client.get(resource, key, { signal, impersonate }))
  }

  #isAsExpected(object: UnknownObject, live: KubeObject): boolean {
    return readinessOf(live).note === undefined && driftedFields(object, live, this.#fieldManager).length === 0
  }

  async #inspectUnwatched(release: Release, context: InspectionContext): Promise<Drift> {
    const known = this.#unwatched.get(release)
    if (known !== undefined && context.now - known.seenAt < this.#resyncMs) return known
    const [missing, changed]: [string[], string[]] = [[], []]
    for (const object of this.#manifest(release).filter((candidate) => watchedResource(candidate) === undefined)) {
      this.#compare(object, await findUnwatched(object, release, context), missing, changed)
    }
    const drift = { missing, changed, seenAt: context.now }
    // Trouble is looked at every time, so that its end is seen at once.
    if (missing.length + changed.length === 0) this.#unwatched.set(release, drift)
    else this.#unwatched.delete(release)
    return drift
  }

  #compare(object: UnknownObject, found: Sighting, missing: string[], changed: string[]): void {
    if (found === 'missing') missing.push(nameOf(object))
    if (typeof found === 'string') return
    const fields = driftedFields(object, found.live, this.#fieldManager)
    if (fields.length > 0) changed.push(`${nameOf(object)} (${fields.join(', ')})`)
  }

  #watched(release: Release): readonly (readonly [UnknownObject, Resource<KubeObject>])[] {
    return this.#manifest(release).flatMap((object) => {
      const resource = watchedResource(object)
      return resource === undefined ? [] : [[object, resource] as const]
    })
  }

  #manifest(release: Release): readonly UnknownObject[] {
    const known =
      this.#objects.get(release) ??
      readManifest(release.manifest).objects.filter(({ metadata }) => metadata.name !== undefined)
    this.#objects.set(release, known)
    return known
  }
}

function watchedResource({ kind, apiVersion }: KubeObject): Resource<KubeObject> | undefined {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  const resource = WATCHED.find((known) => known.kind === kind && known.group === group)
  // The union of resources is read as one of plain objects; whoever needs more looks at the kind.
  return resource as Resource<KubeObject> | undefined
}

async function findUnwatched(
  object: KubeObject,
  release: Release,
  { client, signal, impersonate }: InspectionContext,
): Promise<Sighting> {
  const ask = async () => {
    const resource = await client.resourceFor(object, { signal })
    return client.get(resource, keyOf(object, resource, release), { signal, impersonate })
  }
  return sighting(ask())
}

async function sighting(answer: Promise<KubeObject>): Promise<Sighting> {
  try {
    return { live: await answer }
  } catch (error) {
    if (isNotFound(error) || error instanceof UnknownKindError) return 'missing'
    // Helm was allowed to make it with rights that have been taken away since: nothing can be said about it.
    if (isForbidden(error)) return 'hidden'
    throw error
  }
}

function keyOf({ metadata }: KubeObject, { namespaced }: Resource, release: Release) {
  const { name = '', namespace = release.namespace } = metadata
  return namespaced ? { namespace, name } : { name }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`
}
