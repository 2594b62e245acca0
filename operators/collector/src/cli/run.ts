/** `collector-operator run`: the operator in a process of its own. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChartStore, findHelm, openHelm } from '@reeve/helm'
import { createClient, loadConfig } from '@reeve/kube'
import {
  clientMetrics,
  createLogger,
  createMetricsRegistry,
  parseLogLevel,
  runUntilSignal,
  serviceHosts,
} from '@reeve/runtime'
import { createCollectorOperator } from '../operator.ts'
import { FIELD_MANAGER } from '../reconcile/act.ts'
import { parseSettings } from '../settings.ts'

/** The flags of the command. */
export interface RunFlags {
  readonly settings: string
  readonly kubeconfig?: string
  readonly namespace?: string
  readonly chartCache?: string
  readonly concurrency: number
  readonly helmConcurrency: number
  readonly helmTimeout: number
  readonly leaderElect: boolean
  readonly leaseNamespace?: string
  readonly healthPort: number
  readonly webhook: boolean
  readonly webhookPort: number
  readonly webhookService: string
  readonly webhookConfiguration: string
  readonly webhookSecret: string
  readonly logLevel: string
}

/** Longer than a cluster takes to stop sending requests to a pod that is told to stop. */
const LAME_DUCK_MS = 3_000

/** Runs until the process is told to stop; answers with its exit code. */
export async function run(flags: RunFlags, env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const settings = parseSettings(await readFile(flags.settings, 'utf8'))
  const logger = await createLogger({ level: parseLogLevel(flags.logLevel) })
  const metrics = await createMetricsRegistry({ processMetrics: true })
  const namespace = flags.leaseNamespace ?? env.POD_NAMESPACE ?? 'default'
  const identity = env.POD_NAME ?? hostname()
  const config = await loadConfig(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig })
  await using chartCache = await openChartCache(flags.chartCache)
  await using helm = await openHelm(await findHelm({ env }), config, { maxConcurrent: flags.helmConcurrency, logger })
  const charts = new ChartStore(chartCache.path, { env })
  const client = createClient({
    config,
    userAgent: FIELD_MANAGER,
    fieldManager: FIELD_MANAGER,
    logger,
    onRequest: clientMetrics(metrics, new URL(config.server).host),
  })
  const address = { port: flags.healthPort }
  const { manager } = createCollectorOperator({
    client,
    helm,
    charts,
    settings,
    logger,
    metrics,
    concurrency: flags.concurrency,
    helmTimeoutMs: flags.helmTimeout * 1_000,
    instance: identity,
    ...(flags.namespace !== undefined && { namespace: flags.namespace }),
    healthAddress: address,
    metricsAddress: address,
    ...(flags.leaderElect && { leaderElection: { lease: { namespace, name: FIELD_MANAGER }, identity } }),
    ...(flags.webhook && {
      webhook: {
        address: { port: flags.webhookPort },
        lameDuckMs: LAME_DUCK_MS,
        secret: { namespace, name: flags.webhookSecret },
        hosts: serviceHosts({ namespace, name: flags.webhookService }),
        configurationName: flags.webhookConfiguration,
      },
    }),
  })
  try {
    return await runUntilSignal((signal) => manager.run(signal), { logger })
  } finally {
    await client.close()
  }
}

/** The folder that was asked for, or a temporary one that goes when the process ends in order. */
async function openChartCache(path: string | undefined): Promise<AsyncDisposable & { readonly path: string }> {
  if (path !== undefined) return { path, [Symbol.asyncDispose]: async () => undefined }
  const made = await mkdtemp(join(tmpdir(), 'collector-charts-'))
  return { path: made, [Symbol.asyncDispose]: () => rm(made, { recursive: true, force: true }) }
}
