/** Makes sure that the Secrets which an injected pod reads are in its namespace. */
import {
  isAlreadyExists,
  isForbidden,
  isNotFound,
  type KubeClient,
  type ObjectKey,
  type RequestOptions,
  type Secret,
  Secrets,
  type Stored,
} from '@reeve/kube'
import type { DynaKube } from '../../api/latest.ts'
import { copiesOf } from '../../controllers/dynakube/components/injection/source-secret.ts'
import type { SecretCheck } from './injection-input.ts'
import type { KnownCopies } from './known-copies.ts'

/** What one request may take, retries included. */
const REQUEST_TIMEOUT_MS = 3_000

/** Options of {@link ensureCopies}. */
export interface CopyOptions {
  readonly client: KubeClient
  readonly dynakube: DynaKube
  /** Of the pod. */
  readonly namespace: string
  /** Only check what would be copied. */
  readonly dryRun: boolean
  /** What need not be read, for the namespace with this uid. @default everything is read */
  readonly known?: { readonly copies: KnownCopies; readonly namespaceUid: string }
  readonly signal: AbortSignal
}

/**
 * Checks Secrets by the name of their copies, and copies those that are missing: the operator may not have reached a
 * namespace that is seconds old. Existing copies are left to the operator.
 *
 * @example
 * const checks = await ensureCopies(['dynatrace-bootstrapper-config'], { client, dynakube, namespace: 'shop', … })
 */
export async function ensureCopies(
  names: readonly string[],
  options: CopyOptions,
): Promise<ReadonlyMap<string, SecretCheck>> {
  const checks = names.map(async (name) => [name, await ensureCopy(name, options)] as const)
  return new Map(await Promise.all(checks))
}

async function ensureCopy(name: string, options: CopyOptions): Promise<SecretCheck> {
  const { client, dynakube, namespace, dryRun, signal, known } = options
  if (known?.copies.has({ namespaceUid: known.namespaceUid, name })) return PRESENT
  const isPresent = () => {
    known?.copies.add({ namespaceUid: known.namespaceUid, name })
    return PRESENT
  }
  const request = { signal, timeoutMs: REQUEST_TIMEOUT_MS }
  try {
    if (await exists(client, { namespace, name }, request)) return isPresent()
    const source = sourceOf(dynakube, name)
    const original = await unlessMissing(client.get(Secrets, source, request))
    if (original === undefined)
      return missing(`neither ${namespace}/${name} nor ${source.namespace}/${source.name} exists`)
    if (dryRun) return PRESENT
    await client.create(Secrets, copyOf(original, { namespace, name }), request).catch((error: unknown) => {
      // The operator, or another replica, has made the same copy meanwhile.
      if (!isAlreadyExists(error)) throw error
    })
    return isPresent()
  } catch (error) {
    signal.throwIfAborted()
    return missing(`the Secret ${namespace}/${name} could not be read or copied: ${textOf(error)}`)
  }
}

const PRESENT: SecretCheck = { isPresent: true }

const missing = (problem: string): SecretCheck => ({ isPresent: false, problem })

function sourceOf(dynakube: DynaKube, copy: string): ObjectKey {
  const [name] = [...copiesOf(dynakube)].find(([, target]) => target === copy) ?? [copy]
  return { namespace: dynakube.metadata.namespace ?? '', name }
}

function copyOf({ metadata, data }: Stored<Secret>, to: ObjectKey): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...to, ...(metadata.labels && { labels: metadata.labels }) },
    ...(data && { data }),
  }
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/**
 * Whether a Secret exists, found out by rehearsing its creation: an account that may create Secrets everywhere must not
 * read them, as it could have a token made for any ServiceAccount and take it.
 */
async function exists(client: KubeClient, metadata: ObjectKey, request: RequestOptions): Promise<boolean> {
  try {
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata }, { ...request, dryRun: true })
    return false
  } catch (error) {
    if (isAlreadyExists(error)) return true
    // A quota that is used up, say. The creation itself then fails with the reason.
    if (isForbidden(error)) return false
    throw error
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
