/** Reads the history of a release through the API. */
import { type KubeClient, type RequestOptions, Secrets } from '@reeve/kube'
import { type DecodeOptions, decodeHistory, RELEASE_SECRET_TYPE, releaseSelector } from './decode-release.ts'
import type { Release, ReleaseKey } from './release.ts'

/**
 * Every revision of a release, oldest first; empty when the release does not exist. One request, no process.
 *
 * *Errors*: `ReleaseRecordError`, and what the client throws.
 *
 * @example
 * const history = await readReleases(client, { namespace: 'tenant-a', name: 'web' })
 * const current = history.at(-1)
 */
export async function readReleases(
  client: Pick<KubeClient, 'listAll'>,
  release: ReleaseKey,
  options: RequestOptions & DecodeOptions = {},
): Promise<readonly Release[]> {
  const { items } = await client.listAll(Secrets, {
    ...options,
    namespace: release.namespace,
    labelSelector: releaseSelector(release.name),
    fieldSelector: `type=${RELEASE_SECRET_TYPE}`,
  })
  return decodeHistory(items, { ...options, release })
}
