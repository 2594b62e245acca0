/** Compares the objects of a release with its manifest: which are ready, which are missing, which were changed. */
import { ReleaseRecordError, readManifest } from '@reeve/helm'
import {
  isForbidden,
  isNotFound,
  type KubeObject,
  type Resource,
  UnknownKindError,
  type UnknownObject,
} from '@reeve/kube'
import type { ImpersonatingClient } from '@reeve/runtime/components'
import type { Health } from '../decision/decide.ts'
import { driftedFields } from '../drift/field-drift.ts'
import { formatRelease } from '../release-key.ts'
import { readinessOf } from './readiness.ts'
import type { RecordedRelease } from './release-records.ts'

/** Kinds that change while a release runs: read at every reconcile. Others are read once per check interval. */
const WORKLOADS: ReadonlySet<string> = new Set(['Deployment.apps', 'StatefulSet.apps', 'DaemonSet.apps', 'Service.'])

/** Characters of the manifests whose objects are kept. Parsed they take ten to a hundred times as much. */
const MAX_PARSED_LENGTH = 4 * 1024 * 1024

/** Differences from the manifest of a release. */
export interface Drift {
  /** Such as `Service web`. */
  readonly missing: readonly string[]
  /** Such as `Deployment web (spec.replicas)`. */
  readonly changed: readonly string[]
}

/** The state of a release. */
export interface ReleaseReport extends Drift {
  readonly health: Health
  /** Such as `Deployment web: 1 of 2 replicas ready`; empty when all are ready. */
  readonly notes: readonly string[]
}

/** The report on a release that is not installed. */
export const NOTHING_TO_REPORT: ReleaseReport = { health: 'ready', notes: [], missing: [], changed: [] }

/** How objects are read. */
export interface InspectionContext {
  /** Acts as the account of the release: what that may not read is left out of the report. */
  readonly client: Pick<ImpersonatingClient, 'get' | 'resourceFor'>
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly signal: AbortSignal
}

/** One object of a manifest: absent, not readable for the account, or its current state. */
type Sighting = { readonly live: KubeObject } | 'missing' | 'hidden'

interface RememberedDrift extends Drift {
  readonly seenAt: number
}

/**
 * Inspects releases.
 *
 * Workloads and Services are read every time. Other objects are read no more often than once per check interval for the
 * same revision, unless one of them is missing or was changed. The cached result is dropped with the release.
 *
 * @example
 * const inspector = new ReleaseInspector({ fieldManager: 'helm', checkIntervalMs: 60_000 })
 * const { health, missing, changed } = await inspector.inspect(release, { client, now, signal })
 */
export class ReleaseInspector {
  readonly #fieldManager: string
  readonly #checkIntervalMs: number
  readonly #objects = new Map<RecordedRelease, readonly UnknownObject[]>()
  #length = 0
  readonly #others = new WeakMap<RecordedRelease, RememberedDrift>()

  constructor(options: { readonly fieldManager: string; readonly checkIntervalMs: number }) {
    this.#fieldManager = options.fieldManager
    this.#checkIntervalMs = options.checkIntervalMs
  }

  /** Reads the objects of a deployed revision. */
  async inspect(release: RecordedRelease, context: InspectionContext): Promise<ReleaseReport> {
    const [notes, missing, changed]: [string[], string[], string[]] = [[], [], []]
    let isStuck = false
    for (const object of this.#manifest(release).filter(isWorkload)) {
      const found = await find(object, release, context)
      this.#compare(object, found, missing, changed)
      if (typeof found === 'string') continue
      const { note, isStuck: isThisStuck } = readinessOf(found.live)
      if (note !== undefined) notes.push(`${nameOf(object)}: ${note}`)
      isStuck ||= isThisStuck
    }
    const others = await this.#inspectOthers(release, context)
    return {
      health: isStuck ? 'stuck' : notes.length === 0 ? 'ready' : 'progressing',
      notes,
      missing: [...missing, ...others.missing],
      changed: [...changed, ...others.changed],
    }
  }

  async #inspectOthers(release: RecordedRelease, context: InspectionContext): Promise<Drift> {
    const known = this.#others.get(release)
    if (known !== undefined && context.now - known.seenAt < this.#checkIntervalMs) return known
    const [missing, changed]: [string[], string[]] = [[], []]
    for (const object of this.#manifest(release).filter((candidate) => !isWorkload(candidate))) {
      this.#compare(object, await find(object, release, context), missing, changed)
    }
    const drift = { missing, changed, seenAt: context.now }
    // Drift is not cached, so that its end is seen immediately.
    if (missing.length + changed.length === 0) this.#others.set(release, drift)
    else this.#others.delete(release)
    return drift
  }

  #compare(object: UnknownObject, found: Sighting, missing: string[], changed: string[]): void {
    if (found === 'missing') missing.push(nameOf(object))
    if (typeof found === 'string') return
    const fields = driftedFields(object, found.live, this.#fieldManager)
    if (fields.length > 0) changed.push(`${nameOf(object)} (${fields.join(', ')})`)
  }

  #manifest(release: RecordedRelease): readonly UnknownObject[] {
    const known = this.#objects.get(release)
    const objects = known ?? namedObjects(release)
    // The most recently used are the last.
    if (known !== undefined) this.#forget(release)
    this.#objects.set(release, objects)
    this.#length += release.manifest.length
    for (const oldest of this.#objects.keys()) {
      if (this.#length <= MAX_PARSED_LENGTH || oldest === release) break
      this.#forget(oldest)
    }
    return objects
  }

  #forget(release: RecordedRelease): void {
    this.#objects.delete(release)
    this.#length -= release.manifest.length
  }
}

function namedObjects(release: RecordedRelease): readonly UnknownObject[] {
  const { objects, problems, exceedsLimits } = readManifest(release.manifest)
  if (exceedsLimits) {
    throw new ReleaseRecordError(
      `the manifest of ${formatRelease(release)}, revision ${release.revision}, is not read: ${problems.join()}`,
      { exceedsLimits: true },
    )
  }
  return objects.filter(({ metadata }) => metadata.name !== undefined)
}

function isWorkload({ kind, apiVersion }: KubeObject): boolean {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  return WORKLOADS.has(`${kind}.${group}`)
}

async function find(
  object: KubeObject,
  release: RecordedRelease,
  { client, signal }: InspectionContext,
): Promise<Sighting> {
  try {
    const resource = await client.resourceFor(object, { signal })
    return { live: await client.get(resource, keyOf(object, resource, release), { signal }) }
  } catch (error) {
    if (isNotFound(error) || error instanceof UnknownKindError) return 'missing'
    // Helm created it with rights that the account no longer has: nothing can be said about it.
    if (isForbidden(error)) return 'hidden'
    throw error
  }
}

function keyOf({ metadata }: KubeObject, { namespaced }: Resource, release: RecordedRelease) {
  const { name = '', namespace = release.namespace } = metadata
  return namespaced ? { namespace, name } : { name }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`
}
