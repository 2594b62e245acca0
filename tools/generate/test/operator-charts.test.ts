/** What the charts of the WebApp and Collector operators have in common. */
import { readFile } from 'node:fs/promises'
import { findClientBinary, type RenderedChart, renderChart } from '@reeve/client-binaries'
import type { UnknownObject } from '@reeve/kube'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { absolutePath } from '../src/generated-files.ts'

const helm = await findClientBinary('helm')

const CHARTS = [
  { operator: 'webapp', limited: { watchNamespaces: ['shop'] } },
  { operator: 'collector', limited: { watchNamespace: 'shop' } },
]

/** Everything that is off by default, and limited to one namespace. */
const EVERYTHING = {
  metrics: { protected: true, serviceMonitor: true, alerts: true, dashboard: true },
  console: { enabled: true, hostNames: ['console.example.com'] },
  networkPolicy: {
    enabled: true,
    webhookFrom: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    consoleFrom: [{ podSelector: {} }],
  },
}

describe.skipIf(helm === undefined).each(CHARTS)(
  'the chart of the $operator operator (skipped without helm)',
  ({ operator, limited }) => {
    const folder = absolutePath(`operators/${operator}/chart`)
    const render = (values: object = {}): Promise<RenderedChart> =>
      renderChart(folder, { helm: helm ?? '', release: operator, namespace: 'ops', values })
    let plain: RenderedChart
    let full: RenderedChart
    beforeAll(async () => {
      ;[plain, full] = await Promise.all([render(), render({ ...EVERYTHING, ...limited })])
    })

    const kinds = ({ objects }: RenderedChart) => objects.map(({ kind }) => kind)
    // biome-ignore lint/suspicious/noExplicitAny: whatever is read of it is asserted at once.
    const find = ({ objects }: RenderedChart, kind: string): any => objects.find((one) => one.kind === kind)
    const container = (chart: RenderedChart) => find(chart, 'Deployment').spec.template.spec.containers[0]

    it('refuses misspelt keys and impossible values, and names them', async () => {
      const values = { replcias: 1, webhook: { failurePolicy: 'Retry' }, metrics: { protect: true }, concurrency: 0 }
      const refusal = render(values)
      await expect(refusal).rejects.toThrow("additional properties 'replcias' not allowed")
      await expect(refusal).rejects.toThrow("at '/metrics': additional properties 'protect' not allowed")
      await expect(refusal).rejects.toThrow("at '/webhook/failurePolicy': value must be one of 'Fail', 'Ignore'")
      await expect(refusal).rejects.toThrow("at '/concurrency': minimum: got 0, want 1")
    })

    it('describes every value in its schema', async () => {
      const schema = JSON.parse(await readFile(`${folder}/values.schema.json`, 'utf8'))
      const values = parse(await readFile(`${folder}/values.yaml`, 'utf8'))
      expect(Object.keys(schema.properties).toSorted()).toEqual(['global', ...Object.keys(values)].toSorted())
      const described = ({ description }: { readonly description?: string }) => description !== undefined
      expect(Object.keys(schema.properties).filter((name) => !described(schema.properties[name]))).toEqual([])
    })

    it('carries its icon, and names no website', async () => {
      const chart = parse(await readFile(`${folder}/Chart.yaml`, 'utf8'))
      expect(decodeURIComponent(chart.icon)).toMatch(/^data:image\/svg\+xml,<svg .*<\/svg>$/)
      // There is no website yet, and forks have another.
      expect(JSON.stringify({ ...chart, icon: '' })).not.toContain('://')
    })

    it('installs nothing but the operator by default', () => {
      const optional = ['NetworkPolicy', 'ServiceMonitor', 'PrometheusRule']
      expect(kinds(plain).filter((kind) => optional.includes(kind))).toEqual([])
      expect(plain.objects.map(({ metadata }) => metadata.name)).not.toContain(`${operator}-metrics-reader`)
      expect(plain.notes).toMatch(/is installed in namespace ops, with \d replicas\.\nIt watches .*all namespaces\./)
    })

    it('protects the operator from drains only if another replica can take over', async () => {
      expect(kinds(plain)).toContain('PodDisruptionBudget')
      const single = await render({ replicas: 1 })
      expect(kinds(single)).not.toContain('PodDisruptionBudget')
      expect(single.notes).toContain('with 1 replica.')
    })

    it('allows connections to the ports of webhook, metrics and console, to DNS and to the API server only', () => {
      const { spec } = find(full, 'NetworkPolicy')
      expect(spec.podSelector).toEqual(find(full, 'Deployment').spec.selector)
      expect(spec.policyTypes).toEqual(['Ingress', 'Egress'])
      expect(spec.ingress).toEqual([
        { ports: [{ port: 'webhook', protocol: 'TCP' }], from: EVERYTHING.networkPolicy.webhookFrom },
        { ports: [{ port: 'metrics', protocol: 'TCP' }], from: EVERYTHING.networkPolicy.metricsFrom },
        { ports: [{ port: 'console', protocol: 'TCP' }], from: EVERYTHING.networkPolicy.consoleFrom },
      ])
      const ports = spec.egress.flatMap((rule: { ports: { port: number }[] }) => rule.ports.map(({ port }) => port))
      expect(ports).toEqual([53, 53, 443, 6443])
      const named = container(full).ports.map(({ name }: { name: string }) => name)
      expect(named).toEqual(['webhook', 'metrics', 'health', 'console'])
    })

    it('serves protected metrics on a port of their own, and probes on the other', () => {
      const { args, ports, livenessProbe, readinessProbe, startupProbe } = container(full)
      expect(args).toEqual(expect.arrayContaining(['--metrics-port=8443', '--protect-metrics']))
      expect(ports).toEqual(expect.arrayContaining([{ name: 'metrics', containerPort: 8443 }]))
      expect(ports).toEqual(expect.arrayContaining([{ name: 'health', containerPort: 8080 }]))
      for (const probe of [livenessProbe, readinessProbe, startupProbe]) expect(probe.httpGet.port).toBe('health')
      const service = full.objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === operator)
      expect(service?.spec).toMatchObject({
        ports: expect.arrayContaining([{ name: 'metrics', port: 8443, targetPort: 'metrics' }]),
      })
      expect(find(full, 'ServiceMonitor').spec.endpoints).toEqual([
        {
          port: 'metrics',
          path: '/metrics',
          interval: '30s',
          scheme: 'https',
          tlsConfig: { insecureSkipVerify: true },
          bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
        },
      ])
      const reader = full.objects.find(({ metadata }) => metadata.name === `${operator}-metrics-reader`)
      expect(reader).toMatchObject({ kind: 'ClusterRole', rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] })
      expect(full.notes).toContain(`--clusterrole=${operator}-metrics-reader`)
    })

    it('serves the console only on request, to accounts that have its role, with the right to ask who they are', () => {
      expect(JSON.stringify(plain.objects)).not.toContain('console')
      const { args, ports } = container(full)
      expect(args).toEqual(
        expect.arrayContaining([
          '--console',
          '--console-host=0.0.0.0',
          `--console-name=${operator}-console.ops.svc`,
          '--console-name=console.example.com',
        ]),
      )
      expect(ports).toContainEqual({ name: 'console', containerPort: 8082 })
      const named = (kind: string, name: string) =>
        full.objects.find((one) => one.kind === kind && one.metadata.name === name)
      expect(named('Service', `${operator}-console`)).toMatchObject({
        spec: { sessionAffinity: 'ClientIP', ports: [{ name: 'console', port: 443, targetPort: 'console' }] },
      })
      expect(named('ClusterRole', `${operator}-console`)).toMatchObject({
        rules: [
          { resources: ['tokenreviews'], verbs: ['create'] },
          { resources: ['subjectaccessreviews'], verbs: ['create'] },
        ],
      })
      expect(named('ClusterRoleBinding', `${operator}-console`)).toMatchObject({
        roleRef: { name: `${operator}-console` },
        subjects: [{ kind: 'ServiceAccount', name: operator, namespace: 'ops' }],
      })
      expect(named('ClusterRole', `${operator}-console-reader`)).toMatchObject({
        rules: [{ nonResourceURLs: ['/console'], verbs: ['get'] }],
      })
      expect(full.notes).toContain(`port-forward service/${operator}-console 8082:443`)
    })

    it('keeps plain metrics and probes on one port otherwise', () => {
      const { args, ports, livenessProbe } = container(plain)
      expect(args.join(' ')).not.toContain('metrics')
      expect(ports).toContainEqual({ name: 'metrics', containerPort: 8080 })
      expect(livenessProbe.httpGet.port).toBe('metrics')
    })

    it('leaves the resources of namespaces that it does not watch to others', () => {
      const webhooks = full.objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration')).flatMap(webhooksOf)
      expect(webhooks.length).toBeGreaterThan(0)
      for (const webhook of webhooks) expect(JSON.stringify(webhook.namespaceSelector)).toContain('shop')
      expect(full.notes).toContain('shop.')
    })

    it('warns of values that have no effect together', async () => {
      const { notes } = await render({
        replicas: 2,
        podDisruptionBudget: { minAvailable: 2 },
        metrics: { alerts: true },
        networkPolicy: { metricsFrom: [{ podSelector: {} }] },
      })
      expect(notes).toContain('podDisruptionBudget.minAvailable is not below replicas')
      expect(notes).toContain('set metrics.serviceMonitor')
      expect(notes).toContain('networkPolicy.enabled is false')
      expect(full.notes).not.toContain('has no effect')
    })
  },
)

const webhooksOf = ({ webhooks }: UnknownObject) => webhooks as readonly { readonly namespaceSelector?: object }[]
