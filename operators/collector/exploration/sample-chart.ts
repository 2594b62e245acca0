/** The chart that explored Collectors install: what Helm would render, without templates. */
import { type ReleaseKey, type ResolvedChart, ValuesRefusedError } from '@reeve/helm'
import type { UnknownObject } from '@reeve/kube'
import type { Values } from '../src/decode-configuration.ts'

/** What a chart source delivers. */
export const SAMPLE_CHART: ResolvedChart = {
  path: '/charts/log-collector',
  name: 'log-collector',
  version: '1.0.0',
  digest: `sha256:${'c'.repeat(64)}`,
  fromCache: false,
  source: '/charts/log-collector',
}

/**
 * The objects of a release, in the order in which Helm makes them. `broken` renders an object that only the API server
 * refuses: by then Helm has recorded the revision.
 *
 * *Errors*: `ValuesRefusedError` when `replicas` is not a number, as with the schema of a chart.
 *
 * @example
 * const objects = renderSample({ namespace: 'acme', name: 'log-collector-eu1' }, { replicas: 2 })
 */
export function renderSample(release: ReleaseKey, values: Values): readonly UnknownObject[] {
  const { replicas = 1, pipeline = {}, broken = false, extra = false } = values
  if (typeof replicas !== 'number') {
    const problem = { path: 'replicas', message: 'is not a number' }
    throw new ValuesRefusedError(`helm: ${problem.path} ${problem.message}`, [problem])
  }
  const { name } = release
  const labels = { 'app.kubernetes.io/instance': name }
  const container = { name: 'collector', image: 'nginx:1.29' }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  const config = Buffer.from(JSON.stringify(pipeline)).toString('base64')
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { config } },
    ...(extra ? [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { extra: 'yes' } }] : []),
    ...(broken ? [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Not_A_Name' } }] : []),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { selector: labels, ports: [{ name: 'metrics', port: 8080 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: { replicas, selector: { matchLabels: labels }, template },
    },
  ]
}
