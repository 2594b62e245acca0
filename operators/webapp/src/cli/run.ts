/** `webapp-operator run`: the operator in a process of its own. */
import { hostname } from 'node:os'
import { createClient, loadConfig } from '@reeve/kube'
import {
  clientMetrics,
  createLogger,
  createMetricsRegistry,
  parseLogLevel,
  runUntilSignal,
  serviceHosts,
} from '@reeve/runtime'
import { createWebAppOperator, type WebhookOptions } from '../operator.ts'
import { FIELD_MANAGER } from '../render/labels.ts'

/** The flags of the command. */
export interface RunFlags {
  readonly kubeconfig?: string
  readonly watchNamespace: readonly string[]
  readonly concurrency: number
  readonly leaderElect: boolean
  readonly leaseNamespace?: string
  readonly healthPort: number
  readonly webhook: boolean
  readonly webhookPort: number
  readonly webhookService: string
  readonly webhookConfiguration: string
  readonly webhookSecret: string
  readonly webhookCertDir?: string
  readonly logLevel: string
}

/** Longer than a cluster takes to stop sending requests to a pod that is told to stop. */
const LAME_DUCK_MS = 3_000

/** Runs until the process is told to stop; answers with its exit code. */
export async function run(flags: RunFlags, env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const logger = await createLogger({ level: parseLogLevel(flags.logLevel) })
  const metrics = await createMetricsRegistry({ processMetrics: true })
  const namespace = flags.leaseNamespace ?? env.POD_NAMESPACE ?? 'default'
  const identity = env.POD_NAME ?? hostname()
  const config = await loadConfig(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig })
  const client = createClient({
    config,
    userAgent: FIELD_MANAGER,
    fieldManager: FIELD_MANAGER,
    logger,
    onRequest: clientMetrics(metrics, new URL(config.server).host),
  })
  const address = { port: flags.healthPort }
  const { manager } = createWebAppOperator({
    client,
    logger,
    metrics,
    concurrency: flags.concurrency,
    instance: identity,
    healthAddress: address,
    metricsAddress: address,
    ...(flags.watchNamespace.length > 0 && { namespaces: flags.watchNamespace }),
    ...(flags.leaderElect && { leaderElection: { lease: { namespace, name: FIELD_MANAGER }, identity } }),
    ...(flags.webhook && { webhook: webhookOptions(flags, namespace) }),
  })
  try {
    return await runUntilSignal((signal) => manager.run(signal), { logger })
  } finally {
    await client.close()
  }
}

function webhookOptions(flags: RunFlags, namespace: string): WebhookOptions {
  const { webhookPort, webhookCertDir, webhookService, webhookSecret, webhookConfiguration } = flags
  const address = { port: webhookPort }
  const lameDuckMs = LAME_DUCK_MS
  if (webhookCertDir !== undefined) return { address, lameDuckMs, certificate: { directory: webhookCertDir } }
  const hosts = serviceHosts({ namespace, name: webhookService })
  const secret = { namespace, name: webhookSecret }
  return { address, lameDuckMs, certificate: { secret, hosts }, configurationName: webhookConfiguration }
}
