/** `dynatrace-operator csi-provisioner`: installs agents on its node. */
import type { Subcommand } from '@reeve/cli'
import type { Logger } from '@reeve/runtime'
import manifest from '../../package.json' with { type: 'json' }
import { DATA_ROOT, DEFAULT_NAMESPACE } from '../csi/names.ts'

interface ProvisionerFlags {
  readonly healthProbeBindAddress: string
  readonly metricsBindAddress: string
  readonly dataRoot: string
}

type ProcessEnvironment = Readonly<Record<string, string | undefined>>

const PORTS = { health: 10_090, metrics: 8_090 }
const HOST_DATA_ROOT = '/var/lib/kubelet/plugins/csi.oneagent.dynatrace.com/data'

const EXAMPLES = `
Environment:
  POD_NAMESPACE   namespace of the DynaKubes (${DEFAULT_NAMESPACE})
  KUBE_NODE_NAME  name of this node
  CSI_DATA_DIR    data directory as a path of the node, for download Jobs
  CLEANUP_PERIOD  time between two clean-ups (30m)
  helm.json       settings of download Jobs
  modules.json    which parts of the operator were installed

Examples:
  dynatrace-operator csi-provisioner
  dynatrace-operator csi-provisioner --health-probe-bind-address=:10090`

/** The subcommand. */
export const command: Subcommand<ProvisionerFlags> = {
  configure: (cli) =>
    void cli
      .description(
        `Installs the agents that DynaKubes ask for on this node, from the tenant, from an image or by a Job, and deletes those
that nothing uses any more. The CSI driver mounts them. One per node; needs root.`,
      )
      .option('--health-probe-bind-address <address>', 'address of /livez and /readyz', `:${PORTS.health}`)
      .option('--metrics-bind-address <address>', 'address of /metrics', `:${PORTS.metrics}`)
      .option('--data-root <path>', 'data directory of the node', DATA_ROOT)
      .addHelpText('after', EXAMPLES),
  run: (flags, { env, untilSignal }) =>
    untilSignal(async (signal, logger) => {
      // What is made here has exactly the permissions that were asked for.
      process.umask(0)
      logger.info({ version: manifest.version }, 'dynatrace-operator')
      await runProvisioner(flags, env, { signal, logger })
    }),
}

async function runProvisioner(
  { healthProbeBindAddress, metricsBindAddress, dataRoot }: ProvisionerFlags,
  env: ProcessEnvironment,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  const [
    kube,
    metrics,
    { bindAddress, metricsAddress },
    { DataPaths },
    { createProvisioner },
    settings,
    { networkConnections },
  ] = await Promise.all([
    import('@reeve/kube'),
    import('@reeve/runtime/metrics'),
    import('../webhooks/bind-address.ts'),
    import('../csi/data-paths.ts'),
    import('../csi/provisioner/provisioner.ts'),
    settingsOf(env, logger),
    import('../csi/provisioner/connections.ts'),
  ])
  const [{ readMounts }, { removeLeftovers }, { provisionerMetrics }, { tenantMetrics }] = await Promise.all([
    import('../csi/mounts/mount-table.ts'),
    import('../csi/provisioner/install/remove-leftovers.ts'),
    import('../csi/provisioner/provisioner-metrics.ts'),
    import('../tenant/client/request-metrics.ts'),
  ])
  const registry = await metrics.createMetricsRegistry({ processMetrics: true })
  const client = await kube.connect({
    env,
    userAgent: `dynatrace-csi-provisioner/${manifest.version}`,
    fieldManager: 'dynatrace-operator',
    logger,
    onRequest: metrics.clientMetrics(registry, 'kubernetes'),
  })
  try {
    const paths = new DataPaths(dataRoot)
    await removeLeftovers(paths)
    const { manager } = createProvisioner({
      ...settings,
      ...networkConnections(tenantMetrics(registry)),
      client,
      paths,
      readMounts,
      registry,
      metrics: provisionerMetrics(registry),
      healthAddress: bindAddress(healthProbeBindAddress, PORTS.health),
      metricsAddress: metricsAddress(metricsBindAddress, PORTS.metrics, env),
      logger,
    })
    await manager.run(signal)
  } finally {
    await client.close()
  }
}

async function settingsOf(env: ProcessEnvironment, logger: Logger) {
  const [
    { cleanupPeriodMs, DEFAULT_CLEANUP_PERIOD_MS },
    { JOB_SETTINGS_VARIABLE, parseJobSettings },
    { MODULES_VARIABLE, parseModules },
  ] = await Promise.all([
    import('../csi/provisioner/cleanup/cleanup-timer.ts'),
    import('../csi/provisioner/job-settings.ts'),
    import('../api/validation/modules.ts'),
  ])
  const period = cleanupPeriodMs(env.CLEANUP_PERIOD)
  if (period === undefined) {
    logger.warn({ value: env.CLEANUP_PERIOD }, 'CLEANUP_PERIOD is not a duration such as 30m: using the default')
  }
  return {
    namespace: env.POD_NAMESPACE || DEFAULT_NAMESPACE,
    nodeName: env.KUBE_NODE_NAME ?? '',
    instance: env.KUBE_NODE_NAME ?? '',
    hostDataRoot: env.CSI_DATA_DIR || HOST_DATA_ROOT,
    hasCsiDriver: parseModules(env[MODULES_VARIABLE]).csiDriver,
    cleanupPeriodMs: period ?? DEFAULT_CLEANUP_PERIOD_MS,
    jobs: parseJobSettings(env[JOB_SETTINGS_VARIABLE]),
  }
}
