/** What rules look up, read from the API server: never from a cache, because admission needs the current state. */
import { isNotFound, type KubeClient, Namespaces, Secrets } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import type { IgnoredNamespacePatterns } from '../api/ignored-namespaces.ts'
import { type DynaKube, DynaKubes } from '../api/latest.ts'
import type { Modules } from '../api/validation/modules.ts'
import type { Lookups } from '../api/validation/rule.ts'

/**
 * What one look-up may take, retries included. Rules look up at the same time, so that a review completes in time
 * (the API server waits 10 s by default) even if nothing responds.
 */
const LOOKUP_TIMEOUT_MS = 3_000

const ISTIO_PATH = '/apis/networking.istio.io/v1beta1'

/** What is needed besides the review. */
export interface ClusterLookupsOptions {
  readonly client: KubeClient
  readonly modules: Modules
  readonly ignoredNamespaces: IgnoredNamespacePatterns
  readonly logger: Logger
}

/**
 * Look-ups for the review of one object in `namespace`. What several rules need is read once.
 *
 * *Errors*: each look-up rejects with the client's error, which is logged, or with the reason of `signal`.
 */
export function clusterLookups(
  { client, modules, ignoredNamespaces, logger }: ClusterLookupsOptions,
  namespace: string,
  signal: AbortSignal,
): Lookups {
  const request = { signal, timeoutMs: LOOKUP_TIMEOUT_MS }
  // In one request instead of pages: the deadline is for the whole.
  const whole = { ...request, limit: 0 }
  const attempt = async <T>(what: string, read: () => Promise<T>): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      if (!signal.aborted) logger.warn({ error, namespace, what }, 'a look-up of a validating webhook failed')
      throw error
    }
  }
  return {
    modules,
    ignoredNamespaces,
    readSecret: (name) =>
      attempt('Secret of the proxy', () =>
        unlessMissing(async () => textsOf((await client.get(Secrets, { namespace, name }, request)).data)),
      ),
    listDynaKubes: once(() =>
      attempt('DynaKubes', async (): Promise<readonly DynaKube[]> => {
        const { items } = await client.listAll(DynaKubes, { ...whole, namespace })
        return items
      }),
    ),
    listNamespaces: once(() =>
      attempt('Namespaces', async () => {
        const { items } = await client.listAll(Namespaces, { ...whole, metadataOnly: true })
        return items.map(({ metadata }) => ({ name: metadata.name, labels: metadata.labels ?? {} }))
      }),
    ),
    hasIstio: () =>
      attempt('Istio', async () => {
        const found = await unlessMissing(() => client.raw({ method: 'GET', path: ISTIO_PATH, ...request }))
        return found !== undefined
      }),
  }
}

async function unlessMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function textsOf(data: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  )
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  return () => {
    reading ??= read()
    return reading
  }
}
