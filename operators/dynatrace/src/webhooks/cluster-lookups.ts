/** What rules look up, read from the API server: never from a cache, because admission needs the current state. */
import { untilAborted } from '@reeve/http'
import { isNotFound, type KubeClient, Namespaces, Secrets } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import type { IgnoredNamespacePatterns } from '../api/ignored-namespaces.ts'
import { type DynaKube, DynaKubes } from '../api/latest.ts'
import type { Modules } from '../api/validation/modules.ts'
import type { Lookups } from '../api/validation/rule.ts'
import { SharedRead } from './shared-read.ts'

/**
 * What one look-up may take, retries included. Rules look up at the same time, and wait for one shared read before their
 * own at most, so that a review completes in time (the API server waits 10 s by default) even if nothing responds.
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
 * Look-ups for reviews of objects in a namespace. What several rules need is read once, and lists are shared by reviews
 * that are handled at the same time, without being older than any of them: see {@link SharedRead}.
 *
 * *Errors*: each look-up rejects with the client's error, which is logged, or with the reason of the review's signal.
 */
export function clusterLookups({
  client,
  modules,
  ignoredNamespaces,
  logger,
}: ClusterLookupsOptions): (namespace: string, signal: AbortSignal) => Lookups {
  // In one request instead of pages: the deadline is for the whole.
  const whole = { timeoutMs: LOOKUP_TIMEOUT_MS, limit: 0 }
  const dynakubes = new SharedRead(async (namespace): Promise<readonly DynaKube[]> => {
    const { items } = await client.listAll(DynaKubes, { ...whole, namespace })
    return items
  })
  const namespaces = new SharedRead(async () => {
    const { items } = await client.listAll(Namespaces, { ...whole, metadataOnly: true })
    return items.map(({ metadata }) => ({ name: metadata.name, labels: metadata.labels ?? {} }))
  })
  return (namespace, signal) => {
    const request = { signal, timeoutMs: LOOKUP_TIMEOUT_MS }
    const attempt = async <T>(what: string, read: () => Promise<T>): Promise<T> => {
      try {
        return await read()
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error, namespace, what }, 'a look-up of a validating webhook failed')
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
      listDynaKubes: once(() => attempt('DynaKubes', () => untilAborted(dynakubes.of(namespace), signal))),
      listNamespaces: once(() => attempt('Namespaces', () => untilAborted(namespaces.of(''), signal))),
      hasIstio: () =>
        attempt('Istio', async () => {
          const found = await unlessMissing(() => client.raw({ method: 'GET', path: ISTIO_PATH, ...request }))
          return found !== undefined
        }),
    }
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
