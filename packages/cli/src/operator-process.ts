/** The parts of an operator process according to the options of `run`: client, metrics, health, election. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type ClusterConfig, createClient, loadConfig } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import { serviceHosts } from '@reeve/runtime/certificates'
import { clientMetrics, createMetricsRegistry } from '@reeve/runtime/metrics'
import type { OperatorFrameOptions, WebhookOptions } from '@reeve/runtime/operator'
import { openOperatorConsole } from './operator-console.ts'
import type { RunOptions, ShardOptions } from './run-options.ts'
import type { CommandContext } from './subcommand.ts'

/** Longer than a cluster takes to stop sending requests to a terminating pod. */
const LAME_DUCK_MS = 3_000

/** The open resources of a running operator; disposing closes the client. */
export interface OperatorProcess extends AsyncDisposable {
  /** The namespace of its Lease. */
  readonly namespace: string
  /** The client of its cluster. */
  readonly config: ClusterConfig
  readonly logger: Logger
  /** Dependencies of every operator. */
  readonly frame: OperatorFrameOptions
  /** For webhooks, with the configurations that have to trust it; `undefined` without webhooks. */
  webhook(...kinds: readonly ('mutating' | 'validating')[]): WebhookOptions | undefined
}

/**
 * Opens the resources for the options. No request is sent yet.
 *
 * *Errors*: those of `loadConfig`.
 *
 * @param operator the field manager, and the name of the Lease
 *
 * @example
 * await using own = await openOperatorProcess('webapp-operator', options, context)
 * const { manager } = createWebAppOperator({ ...own.frame, concurrency: options.concurrency })
 * return await context.untilSignal((signal) => manager.run(signal))
 */
export async function openOperatorProcess(
  operator: string,
  options: RunOptions & ShardOptions,
  context: Pick<CommandContext, 'env' | 'logger' | 'stderr' | 'version'>,
): Promise<OperatorProcess> {
  const { env } = context
  const { kubeconfig, healthPort, metricsPort = healthPort, protectMetrics } = options
  const namespace = options.leaseNamespace ?? env.POD_NAMESPACE ?? 'default'
  const instance = env.POD_NAME ?? hostname()
  const logger = await context.logger()
  const opened = await openOperatorConsole(options, context, logger)
  const metrics = await createMetricsRegistry({ processMetrics: true })
  const config = await loadConfig({ env, ...(kubeconfig !== undefined && { kubeconfig }) })
  const count = clientMetrics(metrics, new URL(config.server).host)
  const client = createClient({
    config,
    userAgent: operator,
    fieldManager: operator,
    logger,
    onRequest: (request) => {
      count(request)
      opened?.onRequest(request)
    },
  })
  const address = { port: healthPort }
  return {
    namespace,
    config,
    logger,
    frame: {
      client,
      logger,
      metrics,
      instance,
      healthAddress: address,
      metricsAddress: { port: metricsPort, ...(protectMetrics && { isProtected: true }) },
      observer: opened?.observer,
      upgradeCrds: options.upgradeCrds ? crdUpgrade(options, namespace, context.version) : undefined,
      ...competition({ namespace, name: operator }, instance, env, options),
    },
    webhook: (...kinds) => (options.webhook ? webhookOptions(options, namespace, kinds) : undefined),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/**
 * How replicas share the work. A replica that holds shards has a new identity after each start, and so has a process outside
 * a pod: two on one host would take each other for themselves.
 */
function competition(
  lease: { readonly namespace: string; readonly name: string },
  instance: string,
  { POD_NAME }: CommandContext['env'],
  { leaderElect, shards }: Pick<RunOptions, 'leaderElect'> & ShardOptions,
): Pick<OperatorFrameOptions, 'leaderElection' | 'sharding'> {
  const drawn = `${instance}_${randomUUID()}`
  if (shards !== undefined) return { sharding: { lease, shards, identity: drawn } }
  return leaderElect ? { leaderElection: { lease, identity: POD_NAME ?? drawn } } : {}
}

function crdUpgrade(
  { webhook, webhookService: name }: RunOptions,
  namespace: string,
  version: string,
): OperatorFrameOptions['upgradeCrds'] {
  return { version, ...(webhook && { location: { service: { namespace, name } } }) }
}

function webhookOptions(
  { webhookPort, webhookCertDir, webhookService, webhookSecret, webhookConfiguration }: RunOptions,
  namespace: string,
  kinds: readonly ('mutating' | 'validating')[],
): WebhookOptions {
  const serving = { address: { port: webhookPort }, lameDuckMs: LAME_DUCK_MS }
  if (webhookCertDir !== undefined) return { ...serving, certificate: { directory: webhookCertDir } }
  return {
    ...serving,
    certificate: {
      secret: { namespace, name: webhookSecret },
      hosts: serviceHosts({ namespace, name: webhookService }),
    },
    inject: Object.fromEntries(kinds.map((kind) => [kind, [webhookConfiguration]])),
  }
}
