/** What the chart offers beside the operator: monitors, alerts, a dashboard, network policies and an icon. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DaemonSet, Deployment, UnknownObject } from '@reeve/kube'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { CHART, helmPath } from '../support/render-chart.ts'
import { find, namesOf } from './support/find.ts'
import { renderWithoutCrds } from './support/render.ts'

const REFERENCE = new URL('../../../../docs/reference.md', import.meta.url)
const PODS = ['dynatrace-operator', 'dynatrace-webhook', 'dynatrace-oneagent-csi-driver']
const MONITORING = ['metrics.podMonitors=true', 'metrics.alerts=true', 'metrics.dashboard=true']
const POLICIES = [
  'networkPolicy.enabled=true',
  'networkPolicy.webhookFrom[0].ipBlock.cidr=10.0.0.0/8',
  'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.team=monitoring',
]

interface Selecting {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
  readonly podMetricsEndpoints: readonly { readonly port: string; readonly scheme?: string }[]
}
interface Policy {
  readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> }
  readonly ingress: readonly { readonly ports: readonly { readonly port: string }[]; readonly from: unknown }[]
}

describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
  let plain: readonly UnknownObject[]
  let full: readonly UnknownObject[]
  beforeAll(async () => {
    plain = await renderWithoutCrds()
    full = await renderWithoutCrds([...MONITORING, ...POLICIES])
  })

  // The kinds say what they are.
  const specOf = <T>(kind: string, name: string) => find(full, kind, name)?.spec as T | undefined
  const workload = (name: string) =>
    (find(full, 'Deployment', name) ?? find(full, 'DaemonSet', name)) as Deployment | DaemonSet | undefined
  const portsOf = (name: string) =>
    workload(name)?.spec?.template.spec?.containers.flatMap(({ ports = [] }) => ports.map((port) => port.name))

  it('installs none of it by default', () => {
    const optional = ['NetworkPolicy', 'PodMonitor', 'PrometheusRule', 'ConfigMap']
    expect(plain.filter(({ kind }) => optional.includes(kind))).toEqual([])
  })

  it.each(PODS)('has the metrics of %s scraped from ports that it has', (name) => {
    const { selector, podMetricsEndpoints = [] } = specOf<Selecting>('PodMonitor', name) ?? {}
    expect(selector).toEqual(workload(name)?.spec?.selector)
    const ports = podMetricsEndpoints.map(({ port }) => port)
    expect(ports).toEqual(portsOf(name)?.filter((port) => port?.includes('metrics')))
  })

  it.each(PODS)('limits who connects to %s', (name) => {
    const { podSelector, ingress = [] } = specOf<Policy>('NetworkPolicy', name) ?? {}
    expect(podSelector).toEqual(workload(name)?.spec?.selector)
    for (const { port } of ingress.flatMap(({ ports }) => ports)) expect(portsOf(name)).toContain(port)
    const metricsFrom = [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }]
    const webhookFrom = [{ ipBlock: { cidr: '10.0.0.0/8' } }]
    const from = ingress.map((rule) => rule.from)
    expect(from).toEqual(name === 'dynatrace-webhook' ? [webhookFrom, metricsFrom] : [metricsFrom])
  })

  it('protects metrics on request, with the rights to check who reads them', async () => {
    const PROTECTED = ['operator', 'webhook', 'provisioner']
    const objects = await renderWithoutCrds(['metrics.protected=true', 'metrics.podMonitors=true'])
    for (const name of PODS) {
      expect(find(objects, 'ClusterRoleBinding', `${name}-metrics`)).toMatchObject({
        roleRef: { kind: 'ClusterRole', name: 'dynatrace-operator-metrics' },
        subjects: [{ kind: 'ServiceAccount', name }],
      })
    }
    expect(find(objects, 'ClusterRole', 'dynatrace-operator-metrics')?.rules).toEqual([
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ])
    expect(find(objects, 'ClusterRole', 'dynatrace-operator-metrics-reader')?.rules).toEqual([
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ])
    const containers = PODS.flatMap((name) => {
      // The kinds say what they are.
      const found = (find(objects, 'Deployment', name) ?? find(objects, 'DaemonSet', name)) as Deployment | undefined
      return found?.spec?.template.spec?.containers ?? []
    })
    const told = containers.filter(({ env = [] }) => env.some(({ name }) => name === 'METRICS_PROTECTED'))
    expect(told.map(({ name }) => name)).toEqual(PROTECTED)
    const schemes = PODS.flatMap((name) => {
      const { podMetricsEndpoints = [] } = (find(objects, 'PodMonitor', name)?.spec ?? {}) as Partial<Selecting>
      return podMetricsEndpoints.map(({ port, scheme = 'http' }) => `${name} ${port} ${scheme}`)
    })
    expect(schemes).toEqual([
      'dynatrace-operator metrics https',
      'dynatrace-webhook metrics https',
      'dynatrace-oneagent-csi-driver server-metrics http',
      'dynatrace-oneagent-csi-driver prov-metrics https',
    ])
    expect(JSON.stringify(plain)).not.toMatch(/METRICS_PROTECTED|tokenreviews/)
  })

  it('serves the console only on request, to accounts that have its role', async () => {
    expect(JSON.stringify(plain)).not.toContain('console')
    const objects = await renderWithoutCrds([
      ...POLICIES,
      'console.enabled=true',
      'console.readPods=true',
      'console.hostNames={console.example.com}',
      'networkPolicy.consoleFrom[0].podSelector.matchLabels.team=web',
    ])
    const operator = find(objects, 'Deployment', 'dynatrace-operator') as Deployment | undefined
    const [container] = operator?.spec?.template.spec?.containers ?? []
    expect(container?.args).toEqual([
      'operator',
      '--console',
      '--console-host=0.0.0.0',
      '--console-name=dynatrace-operator-console.observability.svc',
      '--console-name=console.example.com',
    ])
    expect(container?.ports).toContainEqual({ name: 'console', containerPort: 8082 })
    expect(find(objects, 'Service', 'dynatrace-operator-console')?.spec).toMatchObject({
      selector: operator?.spec?.selector.matchLabels,
      ports: [{ port: 443, targetPort: 'console' }],
    })
    expect(find(objects, 'NetworkPolicy', 'dynatrace-operator')?.spec).toMatchObject({
      ingress: [{ ports: [{ port: 'console' }], from: [{ podSelector: { matchLabels: { team: 'web' } } }] }, {}],
    })
    expect(find(objects, 'ClusterRoleBinding', 'dynatrace-operator-console')).toMatchObject({
      roleRef: { name: 'dynatrace-operator-console' },
      subjects: [{ name: 'dynatrace-operator', namespace: 'observability' }],
    })
    expect(find(objects, 'ClusterRole', 'dynatrace-operator-console')?.rules).toMatchObject([
      { resources: ['tokenreviews'], verbs: ['create'] },
      { resources: ['subjectaccessreviews'], verbs: ['create'] },
      { resources: ['pods'], verbs: ['list'] },
    ])
    expect(find(objects, 'ClusterRole', 'dynatrace-operator-console-reader')?.rules).toEqual([
      { nonResourceURLs: ['/console'], verbs: ['get'] },
    ])
  })

  it('asks nothing of a CSI driver that is not installed', async () => {
    const objects = await renderWithoutCrds([...MONITORING, ...POLICIES, 'csidriver.enabled=false'])
    const names = namesOf(objects.filter(({ kind }) => kind === 'PodMonitor' || kind === 'NetworkPolicy'))
    expect(names).toHaveLength(4)
  })

  it('alerts on and shows metrics that the reference describes', async () => {
    const { groups } = specOf<{ groups: readonly { rules: readonly { expr: string }[] }[] }>(
      'PrometheusRule',
      'dynatrace-operator',
    ) ?? { groups: [] }
    const alerts = groups.flatMap(({ rules }) => rules)
    expect(alerts.length).toBeGreaterThan(3)
    const data = find(full, 'ConfigMap', 'dynatrace-operator-dashboard')?.data as Readonly<Record<string, string>>
    const { panels } = JSON.parse(data['dynatrace-operator.json'] ?? '') as {
      panels: readonly { targets: readonly { expr: string }[] }[]
    }
    expect(panels.length).toBeGreaterThan(8)
    const expressions = [...alerts, ...panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr)
    const reference = await readFile(REFERENCE, 'utf8')
    expect(expressions.flatMap(metricsIn).filter((metric) => !reference.includes(`\`${metric}\``))).toEqual([])
  })

  it('carries its icon, and names no website', async () => {
    const chart = parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8')) as { readonly icon: string }
    expect(decodeURIComponent(chart.icon)).toMatch(/^data:image\/svg\+xml,<svg .*<\/svg>$/)
    expect(JSON.stringify({ ...chart, icon: '' })).not.toContain('://')
  })
})

/** The metrics that an expression selects, without the suffixes of histograms. */
function metricsIn(expression: string): readonly string[] {
  const selected = expression.replaceAll(/\{[^}]*\}|\bby\s*\([^)]*\)/g, ' ')
  const names = selected.match(/\b[a-z]+(_[a-z]+)+\b/g) ?? []
  return names.map((name) => name.replace(/_bucket$/, '')).filter((name) => name !== 'histogram_quantile')
}
