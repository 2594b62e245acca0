/** Objects that a release has left behind: Helm removes only what its newest revision contains. */
import { setImmediate } from 'node:timers/promises'
import { type ReleaseKey, readManifest } from '@reeve/helm'
import { isNotFound, type KubeObject, type Resource, UnknownKindError, type UnknownObject } from '@reeve/kube'
import type { ImpersonatingClient } from '@reeve/runtime/components'
import type { RecordedRelease } from './release-records.ts'

/** Charts use it to keep an object after its release is uninstalled. */
const POLICY = 'helm.sh/resource-policy'

/** How objects are read and deleted. */
export interface StrayAccess {
  /** Acts as the account of the release. */
  readonly client: ImpersonatingClient
  readonly signal: AbortSignal
}

/**
 * Deletes objects of older revisions that the newest does not contain, if they still belong to the release. An upgrade
 * that failed or was killed leaves them, and an uninstall considers the newest revision only. Call this before the
 * uninstall, which deletes the records, the only inventory.
 *
 * @example
 * await removeStrays(history, { client: context.clientAs(account), signal })
 */
export async function removeStrays(history: readonly RecordedRelease[], access: StrayAccess): Promise<void> {
  const newest = history.at(-1)
  if (newest === undefined) return
  // Each object is read once.
  const seen = new Set(readManifest(newest.manifest).objects.map((object) => idOf(object, newest)))
  for (const release of history.slice(0, -1).toReversed()) {
    // Reading manifests takes time that others need, too.
    await setImmediate()
    for (const object of readManifest(release.manifest).objects) {
      const id = idOf(object, release)
      if (seen.has(id)) continue
      seen.add(id)
      await ignoreMissing(removeStray(object, release, access))
    }
  }
}

/**
 * The objects of an uninstalled revision that still exist, because a finalizer keeps them.
 *
 * @example
 * await remainingObjects(uninstalled, { client, signal }) // ['Secret web']
 */
export async function remainingObjects(
  release: RecordedRelease,
  { client, ...options }: StrayAccess,
): Promise<readonly string[]> {
  const remaining: string[] = []
  for (const object of readManifest(release.manifest).objects) {
    await ignoreMissing(
      (async () => {
        const resource = await client.resourceFor(object, options)
        const live = await client.get(resource, keyOf(object, resource, release), options)
        const isBeingDeleted = live.metadata.deletionTimestamp !== undefined && belongsTo(live, release)
        if (isBeingDeleted) remaining.push(`${object.kind} ${object.metadata.name}`)
      })(),
    )
  }
  return remaining
}

function keyOf({ metadata }: UnknownObject, { namespaced }: Resource, release: ReleaseKey) {
  const { name = '', namespace = release.namespace } = metadata
  return namespaced ? { namespace, name } : { name }
}

async function removeStray(
  object: UnknownObject,
  release: ReleaseKey,
  { client, ...options }: StrayAccess,
): Promise<void> {
  const resource = await client.resourceFor(object, options)
  const key = keyOf(object, resource, release)
  const live = await client.get(resource, key, options)
  if (!belongsTo(live, release) || live.metadata.annotations?.[POLICY] === 'keep') return
  // Only the object that was read is deleted, not another one of that name.
  await client.delete(resource, key, { preconditions: { uid: live.metadata.uid }, ...options })
}

function belongsTo({ metadata }: KubeObject, { namespace, name }: ReleaseKey): boolean {
  const { annotations = {} } = metadata
  return (
    annotations['meta.helm.sh/release-name'] === name && annotations['meta.helm.sh/release-namespace'] === namespace
  )
}

function idOf({ apiVersion, kind, metadata }: UnknownObject, release: ReleaseKey): string {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  return `${group} ${kind} ${metadata.namespace ?? release.namespace}/${metadata.name}`
}

async function ignoreMissing(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isNotFound(error) && !(error instanceof UnknownKindError)) throw error
  })
}
