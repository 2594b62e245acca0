/** `dynatrace-operator crd-storage-migration`: rewrites stored DynaKubes before an upgrade drops their version. */

import type { Subcommand } from '@reeve/cli'
import type { Logger } from '@reeve/runtime'
import manifest from '../../package.json' with { type: 'json' }
import { operatorNamespace } from './operator-namespace.ts'

interface MigrationOptions {
  readonly namespace?: string
}

const EXAMPLES = `
Examples:
  dynatrace-operator crd-storage-migration
  dynatrace-operator crd-storage-migration -n dynatrace`

/** The subcommand. */
export const command: Subcommand<MigrationOptions> = {
  configure: (cli) =>
    void cli
      .description(
        `Rewrites the DynaKubes of a namespace in the version that the CRD stores now, and then notes in the CRD that no
other is stored. Does nothing when there is nothing to do, and may be repeated at any time.`,
      )
      .option('-n, --namespace <name>', 'namespace of the DynaKubes (env: POD_NAMESPACE, else dynatrace)')
      .addHelpText('after', EXAMPLES),
  run: (options, { env, untilSignal }) =>
    untilSignal((signal, logger) => migrate(operatorNamespace(options, env), env, { logger, signal })),
}

async function migrate(
  namespace: string,
  env: Readonly<Record<string, string | undefined>>,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const [{ connect }, { migrateStorage }] = await Promise.all([
    import('@reeve/kube'),
    import('../controllers/storage-migration/migrate-storage.ts'),
  ])
  const userAgent = `dynatrace-crd-storage-migration/${manifest.version}`
  const client = await connect({ env, userAgent, fieldManager: 'dynatrace-operator', logger })
  try {
    await migrateStorage(namespace, { client, logger, signal })
  } finally {
    await client.close()
  }
}
