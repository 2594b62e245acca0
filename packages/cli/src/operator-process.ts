/** What an operator needs in a process of its own, as the options of `run` say: client, metrics, health, election. */
import { hostname } from 'node:os'
import { type ClusterConfig, createClient, loadConfig } from '@reeve/kube'
import {
  clientMetrics,
  createMetricsRegistry,
  type Logger,
  type OperatorFrameOptions,
  serviceHosts,
  type WebhookOptions,
} from '@reeve/runtime'
import type { RunOptions } from './run-options.ts'
import type { CommandContext } from './subcommand.ts'

/** Longer than a cluster takes to stop sending requests to a pod that is told to stop. */
const LAME_DUCK_MS = 3_000

/** What is open while an operator runs; disposing closes the client. */
export interface OperatorProcess extends AsyncDisposable {
  /** Where it runs: the namespace of its Lease. */
  readonly namespace: string
  /** The cluster it talks to. */
  readonly config: ClusterConfig
  readonly logger: Logger
  /** What every operator is made with. */
  readonly frame: OperatorFrameOptions
  /** For webhooks that configurations of these kinds have to trust; `undefined` when none are asked for. */
  webhook(...kinds: readonly ('mutating' | 'validating')[]): WebhookOptions | undefined
}

/**
 * Opens what the options ask for. Nothing is asked of the cluster yet.
 *
 * *Errors*: those of `loadConfig`.
 *
 * @param operator signs what is written, and names the Lease
 *
 * @example
 * await using own = await openOperatorProcess('webapp-operator', options, context)
 * const { manager } = createWebAppOperator({ ...own.frame, concurrency: options.concurrency })
 * return await context.untilSignal((signal) => manager.run(signal))
 */
export async function openOperatorProcess(
  operator: string,
  options: RunOptions,
  { env, logger: openLogger }: Pick<CommandContext, 'env' | 'logger'>,
): Promise<OperatorProcess> {
  const { kubeconfig, leaderElect, healthPort } = options
  const namespace = options.leaseNamespace ?? env.POD_NAMESPACE ?? 'default'
  const identity = env.POD_NAME ?? hostname()
  const logger = await openLogger()
  const metrics = await createMetricsRegistry({ processMetrics: true })
  const config = await loadConfig({ env, ...(kubeconfig !== undefined && { kubeconfig }) })
  const client = createClient({
    config,
    userAgent: operator,
    fieldManager: operator,
    logger,
    onRequest: clientMetrics(metrics, new URL(config.server).host),
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
      instance: identity,
      healthAddress: address,
      metricsAddress: address,
      ...(leaderElect && { leaderElection: { lease: { namespace, name: operator }, identity } }),
    },
    webhook: (...kinds) => (options.webhook ? webhookOptions(options, namespace, kinds) : undefined),
    [Symbol.asyncDispose]: () => client.close(),
  }
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
