/** Rewrites stored DynaKubes in the version that is stored now, so that a later release can drop the former ones. */
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  isConflict,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
  resource,
  type Stored,
} from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import { DynaKubeCrd } from '../../api/dynakube/dynakube-crd.ts'

/** What a migration works with. */
export interface MigrationDependencies {
  readonly client: KubeClient
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** A migration that could not be completed. It may be repeated at any time. */
export class StorageMigrationError extends Error {
  readonly code = 'STORAGE_MIGRATION'
  override readonly name = 'StorageMigrationError'
}

/** What there is to do, according to the CRD. */
export interface PendingMigration {
  readonly crd: Stored<CustomResourceDefinition>
  /** The version that is stored now. */
  readonly target: string
  readonly stored: readonly string[]
}

/** Conflicts are retried: other clients change the CRD too, for instance to write the CA bundle of the webhook. */
const MAX_ATTEMPTS = 5

/**
 * What there is to migrate; `undefined` for nothing, also without a CRD.
 *
 * *Errors*: {@link StorageMigrationError} when the CRD stores no version; those of the client when it cannot be read.
 */
export async function pendingMigration(dependencies: MigrationDependencies): Promise<PendingMigration | undefined> {
  const { client, logger, signal } = dependencies
  const { name } = DynaKubeCrd
  let crd: Stored<CustomResourceDefinition>
  try {
    crd = await client.get(CustomResourceDefinitions, { name }, { signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
    logger.info({ crd: name }, 'nothing to migrate: the CRD is not installed')
    return undefined
  }
  const stored = crd.status?.storedVersions ?? []
  if (stored.length === 0) return undefined
  const target = crd.spec.versions.find(({ storage }) => storage)?.name
  if (target === undefined) {
    throw new StorageMigrationError(`CustomResourceDefinition ${name} stores no version; install it again`)
  }
  return stored.length === 1 && stored[0] === target ? undefined : { crd, target, stored }
}

/**
 * Migrates the DynaKubes of a namespace, if there is something to migrate.
 *
 * *Guarantees*: the CRD says that only the target is stored after every DynaKube was rewritten, never before; a run that
 * was cut short is completed by the next.
 *
 * *Assumptions*: no DynaKubes in other namespaces. The operator does not reconcile those and has no right to read them.
 *
 * *Errors*: {@link StorageMigrationError} naming the object that could not be rewritten; those of the client.
 *
 * @example
 * await migrateStorage('dynatrace', { client, logger, signal })
 */
export async function migrateStorage(namespace: string, dependencies: MigrationDependencies): Promise<void> {
  const { client, logger, signal } = dependencies
  for (let attempt = 1; ; attempt += 1) {
    const pending = await pendingMigration(dependencies)
    if (pending === undefined) return
    const { crd, target, stored } = pending
    const count = await rewriteAll(namespace, target, dependencies)
    try {
      const status = { ...crd.status, storedVersions: [target] }
      // With the resourceVersion of the CRD that was read: a changed storage version is a conflict.
      await client.update(CustomResourceDefinitions, { ...crd, status }, { signal, subresource: 'status' })
      logger.info({ crd: crd.metadata.name, from: stored, to: target, count }, 'migrated stored objects')
      return
    } catch (cause) {
      if (isConflict(cause) && attempt < MAX_ATTEMPTS) continue
      signal.throwIfAborted()
      const where = `the stored versions of CustomResourceDefinition ${crd.metadata.name}`
      throw new StorageMigrationError(`${where} could not be written; run the migration again`, { cause })
    }
  }
}

/** Writes every DynaKube unchanged, which makes the API server encode it again. Returns how many there were. */
async function rewriteAll(namespace: string, target: string, dependencies: MigrationDependencies): Promise<number> {
  const { client, signal } = dependencies
  const { group, kind, plural, namespaced } = DynaKubeCrd.resource('v1beta6')
  // By the name of the target and without its type: this code may be older than the CRD.
  const dynakubes: Resource<KubeObject> = resource({ group, version: target, kind, plural, namespaced })
  const { items } = await client.listAll(dynakubes, { namespace, signal })
  for (const item of items) {
    try {
      await client.update(dynakubes, item, { signal })
    } catch (cause) {
      // A concurrent change has encoded it already, and a deleted one is no longer stored.
      if (isConflict(cause) || isNotFound(cause)) continue
      signal.throwIfAborted()
      const name = `DynaKube ${namespace}/${item.metadata.name}`
      throw new StorageMigrationError(`${name} could not be rewritten as ${target}; see the cause, and run again`, {
        cause,
      })
    }
  }
  return items.length
}
