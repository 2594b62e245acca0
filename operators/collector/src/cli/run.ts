/** `collector-operator run`: the operator as a process. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  addRunOptions,
  addShardOption,
  type CommandContext,
  positiveInteger,
  type RunOptions,
  type ShardOptions,
  type Subcommand,
} from '@reeve/cli'

interface CollectorRunOptions extends RunOptions, ShardOptions {
  readonly settings: string
  readonly namespace?: string
  readonly adminNamespaces?: readonly string[]
  readonly chartCache?: string
  readonly helmConcurrency: number
  readonly helmTimeout: number
  readonly checkInterval: number
}

const NAME = 'collector-operator'

const EXAMPLES = `
Examples:
  collector-operator run --settings settings.yaml
  collector-operator run --settings settings.yaml --namespace tenants --helm-timeout 300
  collector-operator run --settings settings.yaml --leader-elect --webhook   as the chart starts each replica
  collector-operator run --settings settings.yaml --shards 8                 all replicas work, each on its part

Environment:
  HELM_BIN                 path of the helm binary (default: the one in PATH)
  POD_NAMESPACE, POD_NAME  where this process runs`

/** The subcommand. */
export const command: Subcommand<CollectorRunOptions> = {
  configure: (cli) =>
    void addShardOption(
      addRunOptions(
        cli
          .requiredOption('--settings <path>', 'YAML file with the chart sources of each cluster')
          .option('--namespace <name>', 'reconcile the Collectors of this namespace only (default: all)')
          .option(
            '--admin-namespaces <names>',
            'namespaces whose Collectors may target and create the namespace of any tenant (default: POD_NAMESPACE)',
            commaSeparated,
          )
          .option('--chart-cache <path>', 'folder for downloaded charts (default: a temporary one)')
          .option('--helm-concurrency <count>', 'maximum number of helm processes at a time', positiveInteger, 4)
          .option('--helm-timeout <seconds>', 'deadline of one helm command', positiveInteger, 120)
          .option('--check-interval <seconds>', 'how often a settled release is checked', positiveInteger, 60),
        NAME,
      ),
    ).addHelpText('after', EXAMPLES),
  run,
}

async function run(options: CollectorRunOptions, context: CommandContext): Promise<number> {
  const [{ openOperatorProcess }, { ChartStore, findHelm, openHelm }, { createCollectorOperator }, { parseSettings }] =
    await Promise.all([
      import('@reeve/cli/operator-process'),
      import('@reeve/helm'),
      import('../operator.ts'),
      import('../settings.ts'),
    ])
  const { env } = context
  const { concurrency, helmConcurrency: maxConcurrent, helmTimeout } = options
  const settings = parseSettings(await readFile(options.settings, 'utf8'))
  await using own = await openOperatorProcess(NAME, options, context)
  await using chartCache = await openChartCache(options.chartCache)
  await using helm = await openHelm(await findHelm({ env }), own.config, { maxConcurrent, logger: own.logger })
  const { manager } = createCollectorOperator({
    ...own.frame,
    helm,
    charts: new ChartStore(chartCache.path, { env }),
    settings,
    concurrency,
    helmTimeoutMs: helmTimeout * 1_000,
    checkIntervalMs: options.checkInterval * 1_000,
    namespace: options.namespace,
    operatorNamespace: own.namespace,
    adminNamespaces: options.adminNamespaces,
    webhook: own.webhook('validating'),
  })
  return await context.untilSignal((signal) => manager.run(signal))
}

function commaSeparated(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
}

/** The given folder, or a temporary one that is removed on exit. */
async function openChartCache(path: string | undefined): Promise<AsyncDisposable & { readonly path: string }> {
  if (path !== undefined) return { path, [Symbol.asyncDispose]: async () => undefined }
  const made = await mkdtemp(join(tmpdir(), 'collector-charts-'))
  return { path: made, [Symbol.asyncDispose]: () => rm(made, { recursive: true, force: true }) }
}
