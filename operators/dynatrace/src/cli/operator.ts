/** `dynatrace-operator operator`: reconciles DynaKubes and EdgeConnects until SIGTERM. */
import { hostname } from 'node:os'
import { addConsoleOptions, type CommandContext, type ConsoleOptions, type Subcommand } from '@reeve/cli'
import type { Logger } from '@reeve/runtime'
import manifest from '../../package.json' with { type: 'json' }
import { LEASE_NAME } from '../installed-names.ts'
import type { OperatorSettings } from '../operator-settings.ts'
import { DYNATRACE_TOKENS } from '../token-patterns.ts'

const PORTS = { metrics: 8080, health: 10_080 }

const EXAMPLES = `
Environment:
  POD_NAMESPACE, POD_NAME         where this process runs
  DT_OPERATOR_IMAGE               its own image, which also runs as an init container of agents
  APP_VERSION                     the release that the CRDs must be labelled with
  DT_HOST_AVAILABILITY_DETECTION  whether nodes that go away are reported (true)
  DT_CRD_STORAGE_MIGRATION        whether stored DynaKubes are rewritten at the start (true)
  LEADER_ELECTION_LEASE_DURATION, LEADER_ELECTION_RENEW_DEADLINE, LEADER_ELECTION_RETRY_PERIOD
                                  the election of a leader, in seconds (30, 20, 6)
  ONEAGENT_OPERATOR_UPDATE_INTERVAL
                                  how often agents are listed in the status, in minutes (5)
  METRICS_BIND_ADDRESS            address of /metrics (:${PORTS.metrics})
  METRICS_PROTECTED               true: /metrics by TLS, to accounts that may get it
  HEALTH_PROBE_BIND_ADDRESS       address of /livez and /readyz (:${PORTS.health})
  WEBHOOK_CERTIFICATES            provided: those of the webhook come from elsewhere, such as cert-manager
  RUN_LOCAL                       true outside a cluster
  modules.json                    which parts of the operator were installed

Examples:
  dynatrace-operator operator
  RUN_LOCAL=true POD_NAMESPACE=dynatrace dynatrace-operator operator`

/** The subcommand. */
export const command: Subcommand<ConsoleOptions> = {
  configure: (cli) => void addConsoleOptions(cli).addHelpText('after', EXAMPLES),
  run: async (flags, { env, stderr, untilSignal }) => {
    const { operatorSettings } = await import('../operator-settings.ts')
    const settings = operatorSettings(env)
    return untilSignal((signal, logger) => runOperator(settings, { env, stderr, flags }, { signal, logger }))
  },
}

/** Runs until `signal` aborts. */
export async function runOperator(
  settings: OperatorSettings,
  { env, stderr, flags }: Pick<CommandContext, 'env' | 'stderr'> & { readonly flags: ConsoleOptions },
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  const [
    { connect },
    { clientMetrics, createMetricsRegistry },
    operator,
    versions,
    { startUp },
    { bindAddress, metricsAddress },
    { isManagedByOlm },
    { openOperatorConsole },
  ] = await Promise.all([
    import('@reeve/kube'),
    import('@reeve/runtime/metrics'),
    import('../operator.ts'),
    import('../served-versions.ts'),
    import('../start-up.ts'),
    import('../webhooks/bind-address.ts'),
    import('./managed-by-olm.ts'),
    import('@reeve/cli/operator-console'),
  ])
  const { namespace, modules, podName, isLocal } = settings
  logger.info({ version: manifest.version, modules }, 'dynatrace-operator')
  if (!settings.image) logger.warn({}, 'DT_OPERATOR_IMAGE is not set: agents have an init container of that image')
  for (const variable of settings.unreadable) logger.warn({ variable }, 'its value cannot be read: the default counts')
  const metrics = await createMetricsRegistry({ processMetrics: true })
  const opened = await openOperatorConsole(flags, { env, stderr }, logger, DYNATRACE_TOKENS)
  const count = clientMetrics(metrics, 'kubernetes')
  const client = await connect({
    env,
    userAgent: `dynatrace-operator/${manifest.version}`,
    fieldManager: 'dynatrace-operator',
    logger,
    onRequest: (request) => {
      count(request)
      opened?.onRequest(request)
    },
  })
  const healthAddress = bindAddress(env.HEALTH_PROBE_BIND_ADDRESS, PORTS.health)
  try {
    await versions.requireServedVersions(client, modules, { signal })
    // On the machine of a developer there may be no webhook, and no way for the cluster to reach one.
    const issuesCertificates =
      !isLocal && !settings.areCertificatesProvided && !(await isManagedByOlm(client, { namespace, podName }, signal))
    const migratesStorage = !isLocal && settings.migratesStorage
    await startUp({ client, namespace, issuesCertificates, migratesStorage, healthAddress, logger, signal })
    const { manager } = operator.createDynatraceOperator({
      client,
      namespace,
      clusterId: await operator.clusterIdOf(client, { signal }),
      operator: { version: manifest.version, image: settings.image, hasCsiDriver: modules.csiDriver },
      ...(settings.release && { release: settings.release }),
      detectsHostAvailability: settings.detectsHostAvailability,
      looksAfterEdgeConnects: modules.edgeConnect,
      instancesIntervalMs: settings.instancesIntervalMs,
      issuesCertificates,
      podName,
      instance: podName ?? hostname(),
      leaderElection: {
        lease: { namespace, name: LEASE_NAME },
        // Without a pod, one that is drawn: two processes on one host would take each other for themselves.
        ...(podName !== undefined && { identity: podName }),
        ...settings.election,
      },
      healthAddress,
      metricsAddress: metricsAddress(env.METRICS_BIND_ADDRESS, PORTS.metrics, env),
      metrics,
      logger,
      observer: opened?.observer,
    })
    await manager.run(signal)
  } finally {
    await client.close()
  }
}
