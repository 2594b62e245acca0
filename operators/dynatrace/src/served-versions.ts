/** Whether the cluster serves the resources that the operator works with. */
import { type KubeClient, UnknownKindError } from '@reeve/kube'
import { DynaKubes, EdgeConnects } from './api/latest.ts'
import type { Modules } from './api/validation/modules.ts'

/** The cluster does not know a version that the operator cannot do without. */
class VersionNotServedError extends Error {
  readonly code = 'VERSION_NOT_SERVED'
  override readonly name = 'VersionNotServedError'
}

/**
 * Resolves when every version is served. An operator that started without one would wait for its informers forever.
 *
 * *Errors*: {@link VersionNotServedError} naming the version; errors of the client.
 *
 * @example
 * await requireServedVersions(client, modules, { signal })
 */
export async function requireServedVersions(
  client: KubeClient,
  modules: Modules,
  options: { readonly signal: AbortSignal },
): Promise<void> {
  for (const { group, version, kind } of [DynaKubes, ...(modules.edgeConnect ? [EdgeConnects] : [])]) {
    const apiVersion = `${group}/${version}`
    try {
      await client.resourceFor({ apiVersion, kind }, options)
    } catch (error) {
      if (!(error instanceof UnknownKindError)) throw error
      const message = `the cluster serves no ${kind} of ${apiVersion}; install the CRDs that came with this operator`
      throw new VersionNotServedError(message, { cause: error })
    }
  }
}
