/** The migration as a step of the operator's start: as soon as DynaKubes can be converted. */
import { type Clock, sleep } from '@reeve/http'
import { Deployments, isForbidden, isNotFound } from '@reeve/kube'
import { WEBHOOK_NAME } from '../../installed-names.ts'
import { type MigrationDependencies, migrateStorage, pendingMigration } from './migrate-storage.ts'

/** Between two attempts. */
export const MIGRATION_RETRY_MS = 10_000

/**
 * Resolves when nothing is left to migrate. Reading former versions needs the conversion webhook, and so this waits
 * until all pods of the webhook's Deployment are ready; but only if there is something to migrate. Gives up
 * without the permission to migrate. Rejects with the signal's reason only.
 *
 * @example
 * if (settings.migratesStorage) await firstStorageMigration(namespace, { client, clock, logger, signal })
 */
export async function firstStorageMigration(
  namespace: string,
  dependencies: MigrationDependencies & { readonly clock: Clock },
): Promise<void> {
  const { clock, logger, signal } = dependencies
  for (;;) {
    signal.throwIfAborted()
    try {
      if ((await pendingMigration(dependencies)) === undefined) return
      if (await isWebhookReady(namespace, dependencies)) return await migrateStorage(namespace, dependencies)
      logger.info({ deployment: WEBHOOK_NAME }, 'waiting for the webhook to convert stored objects')
    } catch (error) {
      signal.throwIfAborted()
      // Roles are not corrected while this process runs, and controllers work without the migration.
      if (isForbidden(error)) return logger.warn({ err: error }, 'not migrating stored objects: the account may not')
      logger.warn({ err: error }, 'could not migrate stored objects')
    }
    await sleep(MIGRATION_RETRY_MS, { clock, signal })
  }
}

async function isWebhookReady(namespace: string, { client, signal }: MigrationDependencies): Promise<boolean> {
  try {
    const { spec, status } = await client.get(Deployments, { namespace, name: WEBHOOK_NAME }, { signal })
    const wanted = spec?.replicas ?? 0
    return wanted > 0 && (status?.readyReplicas ?? 0) >= wanted
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
