/** The options of `run` that operators have in common: the cluster, election, health and webhooks. */
import { type Command, Option } from 'commander'
import { append, port, positiveInteger } from './option-values.ts'

/** The parsed options of the console. */
export interface ConsoleOptions {
  readonly console: boolean
  readonly consoleHost: string
  readonly consolePort: number
  readonly consoleName?: readonly string[]
}

/** The parsed options. */
export interface RunOptions extends ConsoleOptions {
  readonly kubeconfig?: string
  readonly concurrency: number
  readonly leaderElect: boolean
  readonly leaseNamespace?: string
  readonly healthPort: number
  readonly metricsPort?: number
  readonly protectMetrics: boolean
  readonly upgradeCrds: boolean
  readonly webhook: boolean
  readonly webhookPort: number
  readonly webhookService: string
  readonly webhookConfiguration: string
  readonly webhookSecret: string
  readonly webhookCertDir?: string
}

/** The option of operators that can divide their objects among replicas. */
export interface ShardOptions {
  readonly shards?: number
}

/**
 * Adds the options.
 *
 * @param operator its name, which is also that of the objects in its chart
 *
 * @example
 * addRunOptions(cli.option('--watch-namespace <name>', 'watch this namespace only', append), 'webapp-operator')
 */
export function addRunOptions(command: Command, operator: string): Command {
  return addConsoleOptions(command)
    .option('--kubeconfig <path>', 'path of the kubeconfig (default: KUBECONFIG, the pod, or ~/.kube/config)')
    .option('--concurrency <count>', 'resources reconciled concurrently', positiveInteger, 10)
    .option('--leader-elect', 'enable leader election', false)
    .option('--lease-namespace <name>', 'namespace of Lease and certificate (default: POD_NAMESPACE, or default)')
    .option('--health-port <port>', 'port of /healthz and /readyz', port, 8080)
    .option('--metrics-port <port>', 'port of /metrics (default: that of /healthz)', port)
    .option('--protect-metrics', 'serve /metrics by TLS, to accounts that may get it; needs --metrics-port', false)
    .option('--upgrade-crds', 'upgrade the CustomResourceDefinitions of the operator when it starts', false)
    .option('--webhook', 'serve the admission webhooks', false)
    .option('--webhook-port <port>', 'port of the webhooks', port, 9443)
    .option('--webhook-service <name>', 'Service in front of the webhooks', operator)
    .option('--webhook-configuration <name>', 'webhook configurations whose CA bundle is kept up to date', operator)
    .option('--webhook-secret <name>', 'Secret of the certificate that the operator issues', `${operator}-certificate`)
    .option('--webhook-cert-dir <path>', 'folder with tls.crt and tls.key, instead of issuing a certificate')
}

/**
 * Adds `--shards`: only for operators whose controllers remember nothing about objects from one reconcile to the next, but what
 * they compare with the cluster before they use it.
 *
 * @example
 * addShardOption(addRunOptions(cli, 'webapp-operator'))
 */
export function addShardOption(command: Command): Command {
  return command.addOption(
    new Option('--shards <count>', 'divide the resources among all replicas, in this many shards')
      .argParser(positiveInteger)
      .conflicts('leaderElect'),
  )
}

/**
 * Adds the options of the console; for operators whose other options differ from {@link addRunOptions}.
 *
 * @example
 * addConsoleOptions(cli)
 */
export function addConsoleOptions(command: Command): Command {
  return command
    .option('--console', 'serve a read-only page about resources, reconciles and health', false)
    .option(
      '--console-host <address>',
      'address of the console; TLS and accounts protect all but loopback',
      '127.0.0.1',
    )
    .option('--console-port <port>', 'port of the console', port, 8082)
    .option(
      '--console-name <name>',
      'host name by which browsers may call it, besides localhost; may be repeated',
      append,
    )
}
