/** Labels namespaces and puts into them what the init containers of their pods read. */
import {
  isAlreadyExists,
  isNotFound,
  type KubeClient,
  Namespaces,
  type Secret,
  Secrets,
  type Stored,
} from '@reeve/kube'
import { type CacheReader, type DesiredObject, isJsonEqual } from '@reeve/runtime'
import { FIXED_NAMES } from '../../../api/dynakube/names.ts'
import { changesPods, type NamespaceLabels } from '../../../api/dynakube/namespace-claims.ts'
import type { IgnoredNamespacePatterns } from '../../../api/ignored-namespaces.ts'
import { type DynaKube, DynaKubes } from '../../../api/latest.ts'
import { FIELD_MANAGER } from '../apply.ts'
import { copiesOf } from '../components/injection/source-secret.ts'
import { INSTANCE_LABEL, mapNamespaces } from './map-namespaces.ts'

/** Tells the webhook for namespaces that this change needs no mapping of its own. */
const UPDATED_BY_OPERATOR = 'dynatrace.com/updated-via-operator'

/** Names of all Secrets that are copied into namespaces. */
export const COPIED_SECRETS = [
  FIXED_NAMES.bootstrapperConfig,
  FIXED_NAMES.bootstrapperCerts,
  FIXED_NAMES.otlpExporterConfig,
  FIXED_NAMES.otlpExporterCerts,
] as const

/** What working on namespaces needs. */
export interface NamespaceContext {
  readonly client: KubeClient
  readonly cache: CacheReader
  readonly signal: AbortSignal
}

/** The namespaces that carry the name of a DynaKube and are not on their way out, by name. */
export function namespacesOf(instance: string, cache: CacheReader): readonly NamespaceLabels[] {
  return cache
    .list(Namespaces)
    .filter(
      ({ metadata }) => metadata.labels?.[INSTANCE_LABEL] === instance && metadata.deletionTimestamp === undefined,
    )
    .map(({ metadata: { name, labels = {} } }) => ({ name, labels }))
    .sort((left, right) => (left.name < right.name ? -1 : 1))
}

/**
 * Corrects the labels of all namespaces, those of other DynaKubes included.
 *
 * *Errors*: `NamespaceConflictError`, `NamespaceSelectorError`; errors of the cluster.
 */
export async function labelNamespaces(
  current: DynaKube,
  patterns: IgnoredNamespacePatterns,
  context: NamespaceContext,
): Promise<void> {
  const { cache } = context
  const { namespace = '', uid } = current.metadata
  const others = cache.list(DynaKubes, { namespace }).filter(({ metadata }) => metadata.uid !== uid)
  const dynakubes = [...others, current]
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(changesPods)
    .sort((left, right) => ((left.metadata.name ?? '') < (right.metadata.name ?? '') ? -1 : 1))
  const namespaces = cache
    .list(Namespaces)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => ({ name: metadata.name, labels: metadata.labels ?? {} }))
  for (const { name, instance } of mapNamespaces(dynakubes, namespaces, patterns)) {
    if (instance === undefined) await release(name, context)
    else await relabel(name, instance, context)
  }
}

/** Takes out what was copied, tokens among it, and then the name: a namespace says whose copies it has to the last. */
async function release(namespace: string, context: NamespaceContext): Promise<void> {
  for (const name of COPIED_SECRETS) await place({ namespace, name }, undefined, context)
  await relabel(namespace, undefined, context)
}

async function relabel(
  name: string,
  instance: string | undefined,
  { client, signal }: NamespaceContext,
): Promise<void> {
  const metadata = {
    labels: { [INSTANCE_LABEL]: instance ?? null },
    annotations: { [UPDATED_BY_OPERATOR]: 'true' },
  }
  try {
    const options = { fieldManager: FIELD_MANAGER, signal }
    await client.patch(Namespaces, { name }, { type: 'merge', patch: { metadata } }, options)
  } catch (error) {
    // Gone meanwhile: nothing to label.
    if (!isNotFound(error)) throw error
  }
}

/**
 * Copies the Secrets into the namespaces of a DynaKube and removes copies that are no longer wanted there.
 *
 * @param unknown Secrets of which it is not known what they should be: their copies stay as they are
 *
 * *Errors*: all that went wrong, namespace by namespace; the others are done.
 */
export async function replicate(
  dynakube: DynaKube,
  sources: readonly DesiredObject[],
  unknown: readonly string[],
  context: NamespaceContext,
): Promise<readonly Error[]> {
  const copies = copiesOf(dynakube)
  const untouched = new Set(unknown.map((name) => copies.get(name)))
  const failures: Error[] = []
  for (const { name: namespace } of namespacesOf(dynakube.metadata.name ?? '', context.cache)) {
    const wanted = new Map(
      sources.flatMap(({ object }) => {
        const name = copies.get(object.metadata.name ?? '')
        return name === undefined ? [] : [[name, object as Secret] as const]
      }),
    )
    for (const name of COPIED_SECRETS.filter((copy) => !untouched.has(copy))) {
      try {
        await place({ namespace, name }, wanted.get(name), context)
      } catch (error) {
        context.signal.throwIfAborted()
        if (!(error instanceof Error)) throw error
        failures.push(error)
      }
    }
  }
  return failures
}

interface CopyKey {
  readonly namespace: string
  readonly name: string
}

async function place(key: CopyKey, wanted: Secret | undefined, context: NamespaceContext): Promise<void> {
  const { client, cache, signal } = context
  const live = cache.get(Secrets, key)
  if (wanted === undefined) {
    if (live !== undefined) await removeCopy(live, key, context)
    return
  }
  const { labels = {} } = wanted.metadata
  const { data = {} } = wanted
  const options = { fieldManager: FIELD_MANAGER, signal }
  if (live === undefined) {
    await create({ apiVersion: 'v1', kind: 'Secret', metadata: { ...key, labels }, data }, context)
  } else if (!isJsonEqual(live.data ?? {}, data) || !isJsonEqual(live.metadata.labels ?? {}, labels)) {
    // Kept in the cache without the entries of others, which the server knows better.
    const { managedFields: _entries, ...metadata } = live.metadata
    await client.update(Secrets, { ...live, metadata: { ...metadata, labels }, data }, options)
  }
}

async function create(secret: Secret, { client, signal }: NamespaceContext): Promise<void> {
  try {
    await client.create(Secrets, secret, { fieldManager: FIELD_MANAGER, signal })
  } catch (error) {
    // The webhook was faster, or the namespace is on its way out: the next look tells.
    if (!isAlreadyExists(error) && !isNotFound(error)) throw error
  }
}

async function removeCopy(live: Stored<Secret>, key: CopyKey, { client, signal }: NamespaceContext): Promise<void> {
  const { uid } = live.metadata
  try {
    // Whatever somebody wrote into it meanwhile: it goes. One that was made anew is looked at before, by the next try.
    await client.delete(Secrets, key, { preconditions: { uid }, signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Takes a DynaKube out of all namespaces. */
export async function releaseNamespaces(instance: string, context: NamespaceContext): Promise<void> {
  for (const { name: namespace } of namespacesOf(instance, context.cache)) await release(namespace, context)
}
