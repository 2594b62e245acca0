/** Objects that a release has left behind: Helm removes what its newest revision names, and nothing else. */
import { type Release, type ReleaseKey, readManifest } from '@reeve/helm'
import { isNotFound, type KubeObject, UnknownKindError, type UnknownObject } from '@reeve/kube'
import type { ImpersonatingClient } from '@reeve/runtime/components'

/** Charts ask with it that an object outlives its release. */
const POLICY = 'helm.sh/resource-policy'

/** How objects are read and deleted. */
export interface StrayAccess {
  /** Acts as the account of the release. */
  readonly client: ImpersonatingClient
  readonly signal: AbortSignal
}

/**
 * Deletes what older revisions name and the newest does not, as far as it still belongs to the release. An upgrade that
 * failed or was killed has not come to it, and an uninstall does not look back. To be called before the uninstall: the
 * records are the only inventory, and they go with it.
 *
 * @example
 * await removeStrays(history, { client: context.clientAs(account), signal })
 */
export async function removeStrays(history: readonly Release[], access: StrayAccess): Promise<void> {
  const newest = history.at(-1)
  if (newest === undefined) return
  // What is named once more is not asked for once more.
  const seen = new Set(readManifest(newest.manifest).objects.map((object) => idOf(object, newest)))
  for (const release of history.slice(0, -1).toReversed()) {
    for (const object of readManifest(release.manifest).objects) {
      const id = idOf(object, release)
      if (seen.has(id)) continue
      seen.add(id)
      await ignoreMissing(removeStray(object, release, access))
    }
  }
}

async function removeStray(
  object: UnknownObject,
  release: ReleaseKey,
  { client, ...options }: StrayAccess,
): Promise<void> {
  const resource = await client.resourceFor(object, options)
  const { name = '', namespace = release.namespace } = object.metadata
  const key = resource.namespaced ? { namespace, name } : { name }
  const live = await client.get(resource, key, options)
  if (!belongsTo(live, release) || live.metadata.annotations?.[POLICY] === 'keep') return
  // Looked at and deleted are the same object, whoever makes another one of that name meanwhile.
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
