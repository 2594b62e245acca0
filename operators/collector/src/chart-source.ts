/** Where the chart of a Collector comes from. */
import { type ChartCredentials, type ChartSource, chartCredentials } from '@reeve/helm'
import { ownValue } from '@reeve/http'
import { type KubeClient, type ObjectKey, Secrets } from '@reeve/kube'
import type { Collector } from './api/collector.ts'
import type { CollectorSettings } from './settings.ts'
import { accountOf, as } from './tenancy/service-account.ts'

/** What is needed to read the credentials of a source. */
export interface SourceContext {
  readonly client: Pick<KubeClient, 'get'>
  readonly settings: CollectorSettings
  readonly signal?: AbortSignal
}

/**
 * The source of a valid Collector's chart: its own, or that of its cluster, with the credentials for it.
 *
 * *Errors*: those of the client, for instance when the Secret does not exist; `InvalidHelmRequestError` when it cannot be used.
 *
 * @example
 * const chart = await charts.resolve(await chartSourceOf(collector, { client, settings }))
 */
export async function chartSourceOf(collector: Collector, context: SourceContext): Promise<ChartSource> {
  const { name, version, chart } = collector.spec.collector
  if (chart !== undefined) {
    const { namespace } = collector.metadata
    const secret = chart.credentialsSecretName
    const key = secret === undefined || namespace === undefined ? undefined : { namespace, name: secret }
    const access = {
      ...(await credentialsIn(key, chart.url, context, accountOf(collector.spec, context.settings))),
      ...(chart.digest !== undefined && { digest: chart.digest }),
    }
    // Validation requires a digest for a plain URL.
    if (chart.type === 'url') return { type: 'url', url: chart.url, digest: chart.digest ?? '', ...access }
    if (chart.type === 'oci') return { type: 'oci', url: chart.url, version, ...access }
    return { type: 'repository', url: chart.url, chart: chart.name ?? name, version, ...access }
  }
  const source = ownValue(context.settings.clusters, collector.spec.cluster)
  if (source === undefined) throw new Error(`cluster ${collector.spec.cluster} is not in the settings`)
  const { type, location, plainHttp = false } = source
  const base = location.replace(/\/+$/, '')
  if (type === 'directory') return { type: 'directory', path: `${base}/${name}` }
  const access = await credentialsIn(source.credentials, location, context)
  if (type === 'oci') return { type: 'oci', url: `${base}/${name}`, version, plainHttp, ...access }
  return { type: 'repository', url: base, chart: name, version, ...access }
}

async function credentialsIn(
  key: ObjectKey | undefined,
  url: string,
  { client, signal }: SourceContext,
  account?: string,
): Promise<{ readonly credentials?: ChartCredentials }> {
  if (key === undefined) return {}
  const { namespace = '' } = key
  // Credentials in the settings are read by the operator itself; those of a Collector are read as its account.
  const identity = account === undefined ? {} : as({ namespace, name: account })
  const secret = await client.get(Secrets, key, { ...(signal && { signal }), ...identity })
  return { credentials: chartCredentials(secret, url) }
}
