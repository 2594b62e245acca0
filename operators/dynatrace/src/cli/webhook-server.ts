/** `dynatrace-operator webhook-server`: validates and converts resources, labels namespaces and injects pods. */

import type { Subcommand } from '@reeve/cli'
import type { Logger } from '@reeve/runtime'
import manifest from '../../package.json' with { type: 'json' }

/** The flags of the command. */
export interface WebhookServerFlags {
  readonly certsDir: string
  readonly cert: string
  readonly certKey: string
}

type ProcessEnvironment = Readonly<Record<string, string | undefined>>

/** Longer than a cluster takes to stop sending requests to a terminating pod. */
const LAME_DUCK_MS = 3_000

const DEFAULT_PORTS = { webhook: 8443, metrics: 8383, health: 10_080 }

const EXAMPLES = `
Environment:
  POD_NAMESPACE, POD_NAME    the pod of this process, whose image init containers run
  WEBHOOK_PORT               port of the webhooks (${DEFAULT_PORTS.webhook})
  HEALTH_PROBE_BIND_ADDRESS  address of /livez and /readyz (:${DEFAULT_PORTS.health})
  METRICS_BIND_ADDRESS       address of /metrics (:${DEFAULT_PORTS.metrics})
  METRICS_PROTECTED          true: /metrics by TLS, to accounts that may get it
  WEBHOOK_CERTIFICATES       provided: certificates in the directory come from elsewhere, such as cert-manager
  modules.json               which parts of the operator were installed

Examples:
  dynatrace-operator webhook-server --certs-dir=/tmp/k8s-webhook-server/serving-certs/
  WEBHOOK_CERTIFICATES=provided dynatrace-operator webhook-server --certs-dir=/certificates`

/** The subcommand. */
export const command: Subcommand<WebhookServerFlags> = {
  configure: (cli) =>
    void cli
      .option('--certs-dir <path>', 'directory of the certificate', '/tmp/webhook/certs')
      .option('--cert <name>', 'file name of the certificate', 'tls.crt')
      .option('--cert-key <name>', 'file name of its private key', 'tls.key')
      .addHelpText('after', EXAMPLES),
  run: (flags, { env, untilSignal }) =>
    untilSignal((signal, logger) => runWebhookServer(flags, env, { signal, logger })),
}

/** Runs until `signal` aborts. */
export async function runWebhookServer(
  flags: WebhookServerFlags,
  env: ProcessEnvironment,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  const [
    { connect },
    { clientMetrics, createMetricsRegistry },
    { parseModules, MODULES_VARIABLE },
    parts,
    addresses,
    ownPod,
    { isOlmPod },
  ] = await Promise.all([
    import('@reeve/kube'),
    import('@reeve/runtime/metrics'),
    import('../api/validation/modules.ts'),
    import('../webhooks/server.ts'),
    import('../webhooks/bind-address.ts'),
    import('../webhooks/own-pod.ts'),
    import('./managed-by-olm.ts'),
  ])
  const modules = parseModules(env[MODULES_VARIABLE])
  logger.info({ modules }, 'installed modules')
  logger.info({ version: manifest.version }, 'dynatrace-operator')
  const namespace = env.POD_NAMESPACE ?? ''
  const metrics = await createMetricsRegistry({ processMetrics: true })
  const client = await connect({
    env,
    userAgent: `dynatrace-webhook/${manifest.version}`,
    fieldManager: 'dynatrace-webhook',
    logger,
    onRequest: clientMetrics(metrics, 'kubernetes'),
  })
  try {
    if (namespace === '') throw new Error('POD_NAMESPACE is not set: set it to the namespace of this process')
    const pod = await ownPod.readOwnPod(client, { namespace, name: env.POD_NAME }, { signal })
    const isManagedByOlm = isOlmPod(pod)
    const areProvided = env.WEBHOOK_CERTIFICATES === 'provided' || isManagedByOlm
    await ownPod.refuseLegacyOperator(client, pod, { signal, logger })
    const injection = {
      image: ownPod.webhookImage(pod),
      isOpenShift: await ownPod.isOpenShift(client, { signal, logger }),
      isManagedByOlm,
      podName: pod.metadata.name,
    }
    const { manager } = parts.createWebhookServer({
      client,
      namespace,
      modules,
      injection,
      certificates: {
        areProvided,
        files: { directory: flags.certsDir, certificate: flags.cert, privateKey: flags.certKey },
      },
      address: { host: addresses.everyHost(), port: addresses.portOf(env.WEBHOOK_PORT, DEFAULT_PORTS.webhook) },
      healthAddress: addresses.bindAddress(env.HEALTH_PROBE_BIND_ADDRESS, DEFAULT_PORTS.health),
      metricsAddress: addresses.metricsAddress(env.METRICS_BIND_ADDRESS, DEFAULT_PORTS.metrics, env),
      lameDuckMs: LAME_DUCK_MS,
      metrics,
      logger,
    })
    await manager.run(signal)
  } finally {
    await client.close()
  }
}
