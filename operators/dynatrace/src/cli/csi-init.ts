/** `dynatrace-operator csi-init`: prepares the data directory of a node before the CSI driver starts. */
import type { Subcommand } from '@reeve/cli'
import type { Logger } from '@reeve/runtime'
import manifest from '../../package.json' with { type: 'json' }
import { DATA_ROOT, DEFAULT_NAMESPACE } from '../csi/names.ts'

interface CsiInitFlags {
  readonly dataRoot: string
}

const EXAMPLES = `
Environment:
  POD_NAMESPACE  namespace of the DynaKubes (${DEFAULT_NAMESPACE})

Examples:
  dynatrace-operator csi-init`

/** The subcommand. */
export const command: Subcommand<CsiInitFlags> = {
  configure: (cli) =>
    void cli
      .description(
        `Links volumes and storage of earlier releases to where the CSI driver looks for them now. What cannot be migrated is
logged; running pods are not affected. May be repeated at any time.`,
      )
      .option('--data-root <path>', 'data directory of the node', DATA_ROOT)
      .addHelpText('after', EXAMPLES),
  run: ({ dataRoot }, { env, untilSignal }) =>
    untilSignal(async (signal, logger) => {
      process.umask(0)
      logger.info({ version: manifest.version }, 'dynatrace-operator')
      await initialize(dataRoot, env, { signal, logger })
    }),
}

async function initialize(
  dataRoot: string,
  env: Readonly<Record<string, string | undefined>>,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  const [{ mkdir }, { connect }, { DynaKubes }, { DataPaths }, { readMounts }, migration] = await Promise.all([
    import('node:fs/promises'),
    import('@reeve/kube'),
    import('../api/latest.ts'),
    import('../csi/data-paths.ts'),
    import('../csi/mounts/mount-table.ts'),
    import('../csi/init/migrate-layout.ts'),
  ])
  await mkdir(dataRoot, { recursive: true, mode: 0o777 })
  const userAgent = `dynatrace-csi-init/${manifest.version}`
  const client = await connect({ env, userAgent, fieldManager: 'dynatrace-operator', logger })
  const context = { paths: new DataPaths(dataRoot), logger }
  // A pod of the driver that does not start would be worse than a volume that is found later.
  const attempt = (what: string, work: Promise<void>) =>
    work.catch((error: unknown) => logger.error({ err: error }, what))
  try {
    await attempt(
      'cannot migrate volumes',
      readMounts().then((mounts) => migration.migrateAppMounts(mounts, context)),
    )
    const namespace = env.POD_NAMESPACE || DEFAULT_NAMESPACE
    const listed = client.list(DynaKubes, { namespace, signal })
    const stored = listed.then(({ items }) => migration.migrateHostStorage(items, context))
    await attempt('cannot migrate the storage of host agents', stored)
  } finally {
    await client.close()
  }
}
