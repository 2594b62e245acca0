import type { ConfigMap, Service, StatefulSet } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { asYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { KNOWN_STATUS, type RenderParts, rendered, renderInput, withFacts } from '../../testing/render-input.ts'
import { collectorConfig, UnknownProtocolError } from './config.ts'
import { otelCollector } from './otel-collector.ts'
import { collectorConfigData, telemetryIngest } from './telemetry-ingest.ts'

type Ingest = NonNullable<DynaKubeSpec['telemetryIngest']>

const templates: DynaKubeSpec['templates'] = {
  otelCollector: { imageRef: { repository: 'registry.example.com/otelc', tag: '1.2.3' } },
  extensionExecutionController: { imageRef: { repository: 'registry.example.com/eec', tag: '1.2.3' } },
}
const ingest = (more: Ingest = {}): Partial<DynaKubeSpec> => ({ telemetryIngest: more, templates })
const prometheus: Partial<DynaKubeSpec> = { extensions: { prometheus: {} }, templates }
const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing'] } }
const setOf = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  only<StatefulSet>(rendered(otelCollector, renderInput(spec, parts)), 'StatefulSet')
const container = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  setOf(spec, parts).spec?.template?.spec?.containers[0]
const variable = (spec: Partial<DynaKubeSpec>, name: string, parts?: RenderParts) =>
  container(spec, parts)?.env?.find((entry) => entry.name === name)?.value
const config = (spec: Partial<DynaKubeSpec>) =>
  parse(collectorConfigData(renderInput(spec).dynakube)['telemetry.yaml'] ?? '')
const endpoint = (spec: Partial<DynaKubeSpec>) =>
  rendered(telemetryIngest, renderInput(spec))
    .map(({ object }) => object as ConfigMap)
    .find(({ metadata }) => metadata.name === 'dynatrace-otlp-api-endpoint')?.data?.DT_ENDPOINT

describe('the OpenTelemetry collector', () => {
  it.each([
    ['telemetry-ingest', ingest(), {}],
    ['prometheus', prometheus, {}],
    [
      'everything',
      {
        ...ingest({ protocols: ['zipkin', 'otlp'], serviceName: 'telemetry', tlsRefName: 'tls' }),
        ...gateway,
        extensions: { prometheus: {} },
        templates: {
          ...templates,
          otelCollector: {
            ...templates?.otelCollector,
            replicas: 2,
            labels: { team: 'a', 'app.kubernetes.io/name': 'mine' },
            annotations: { team: 'a' },
            resources: { limits: { memory: '1Gi' } },
            tolerations: [{ key: 'dedicated', operator: 'Exists' }],
            topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
          },
        },
        trustedCAs: 'certificates',
        proxy: { valueFrom: 'proxy' },
        tokens: 'tokens',
        customPullSecret: 'pull',
      },
      {
        flags: { 'no-proxy': ' a , ,b' },
        status: {
          ...KNOWN_STATUS,
          kubernetesClusterName: 'cluster',
          kubernetesClusterMEID: 'KUBERNETES_CLUSTER-0000000000000001',
        },
        facts: { telemetryTlsData: { 'tls.crt': 'x', 'tls.key': 'y' } },
      },
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    'for %s matches its golden file',
    async (name, spec, parts) => {
      const input = renderInput(spec, parts)
      const objects = [...rendered(telemetryIngest, input), ...rendered(otelCollector, input)]
      await expectGolden(asYaml(objects), new URL(`../../golden/otel-collector/${name}.yaml`, import.meta.url))
    },
  )

  it('gets the places of its configuration, extensions first', () => {
    const args = container({ ...ingest(), ...prometheus })?.args
    const controller = 'dk-extension-controller.dynatrace:14599/otcconfig/prometheusMetrics'
    expect(args).toEqual([
      `--config=eec://${controller}#refresh-interval=5s&auth-file=/secrets/tokens/datasource.token`,
      '--config=file:///config/telemetry.yaml',
    ])
  })

  it('knows how many share the work', () => {
    const spec = { ...ingest(), templates: { otelCollector: { ...templates?.otelCollector, replicas: 3 } } }
    expect(variable(spec, 'SHARDS')).toBe('3')
    expect(setOf(spec).spec).toMatchObject({ replicas: 3, podManagementPolicy: 'Parallel' })
  })

  it('stays for Prometheus when telemetry is no longer received', () => {
    const input = renderInput(prometheus)
    expect(rendered(telemetryIngest, input)).toEqual([])
    expect(rendered(otelCollector, input)).toHaveLength(1)
    expect(container(prometheus)?.volumeMounts?.map(({ name }) => name)).toEqual(['tokens', 'extension-controller-tls'])
  })

  it('waits for the token with which telemetry is sent', () => {
    const input = renderInput(ingest())
    const lacking = withFacts(input, { dataIngestToken: undefined })
    expect(() => rendered(otelCollector, lacking)).toThrow(/dataIngestToken in the Secret dk/)
  })

  it('reaches its neighbours without the proxy', () => {
    const proxy = { proxy: { value: 'http://proxy:3128' } }
    expect(variable({ ...ingest(), ...proxy }, 'NO_PROXY')).toBe('$(KUBERNETES_SERVICE_HOST),kubernetes.default')
    const flags = { 'no-proxy': ' a , ,b' }
    const near = { ...ingest(), ...gateway, ...proxy }
    expect(variable(near, 'NO_PROXY', { flags })).toBe(
      '$(KUBERNETES_SERVICE_HOST),kubernetes.default,dk-activegate.dynatrace,a,b',
    )
    expect(variable(near, 'NO_PROXY')?.split(',')).toContain(new URL(endpoint(near) ?? '').hostname)
    expect(variable(near, 'HTTPS_PROXY')).toBe('http://proxy:3128')
  })

  it('restarts for another certificate, its own or that of the extension controller', () => {
    const annotations = (spec: Partial<DynaKubeSpec>, facts: RenderParts['facts'] = {}) =>
      setOf(spec, { facts }).spec?.template?.metadata?.annotations
    const extensionsKeyPair = { certificate: 'new', privateKey: 'new' }
    expect(annotations(prometheus, { extensionsKeyPair })).not.toEqual(annotations(prometheus))
    const tls = ingest({ tlsRefName: 'tls' })
    const first = annotations(tls, { telemetryTlsData: { 'tls.crt': 'x', 'tls.key': 'y' } })
    const second = annotations(tls, { telemetryTlsData: { 'tls.crt': 'z', 'tls.key': 'y' } })
    expect(first?.[ANNOTATIONS.telemetrySecret]).not.toBe(second?.[ANNOTATIONS.telemetrySecret])
    expect(() => setOf(tls)).toThrow(/the Secret dynatrace\/tls does not exist/)
  })

  it('restarts when its configuration changes', () => {
    const hash = (spec: Partial<DynaKubeSpec>) =>
      setOf(spec).spec?.template?.metadata?.annotations?.[ANNOTATIONS.telemetryConfig]
    expect(hash(ingest({ protocols: ['zipkin'] }))).not.toBe(hash(ingest()))
  })
})

describe('its configuration', () => {
  it.each([
    [undefined, 11_576, '2471292416'],
    [['zipkin'], 9_910, '3575691931'],
  ])('for %j is the text that installations carry', (protocols, length, hash) => {
    const spec = ingest(protocols ? { protocols } : {})
    const text = collectorConfigData(renderInput(spec).dynakube)['telemetry.yaml'] ?? ''
    expect(Buffer.byteLength(text)).toBe(length)
    expect(setOf(spec).spec?.template?.metadata?.annotations?.[ANNOTATIONS.telemetryConfig]).toBe(hash)
  })

  it('reads back as what was meant', () => {
    const { dynakube } = renderInput({ ...ingest({ tlsRefName: 'tls' }), ...gateway, trustedCAs: 'certificates' })
    expect(parse(collectorConfigData(dynakube)['telemetry.yaml'] ?? '')).toEqual(collectorConfig(dynakube))
  })

  it('receives everything unless the user chooses', () => {
    expect(Object.keys(config(ingest()).receivers)).toHaveLength(4)
    expect(Object.keys(config(ingest()).service.pipelines).sort()).toEqual(['logs', 'metrics', 'traces'])
    const pipelinesOf = (protocol: string) => config(ingest({ protocols: [protocol] })).service.pipelines
    expect(Object.keys(pipelinesOf('statsd'))).toEqual(['metrics'])
    expect(pipelinesOf('statsd').metrics.receivers).toEqual(['statsd'])
    expect(Object.keys(pipelinesOf('zipkin'))).toEqual(['traces'])
    const service = only<Service>(rendered(telemetryIngest, renderInput(ingest())), 'Service')
    const ports = service.spec?.ports?.map(({ port, protocol }) => `${port}/${protocol}`)
    const jaeger = ['14250/TCP', '6832/UDP', '6831/UDP', '14268/TCP']
    expect(ports).toEqual(['4317/TCP', '4318/TCP', ...jaeger, '8125/UDP', '9411/TCP'])
  })

  it('sends to the gateway, or to the tenant', () => {
    expect(endpoint({ ...ingest(), ...gateway })).toBe('https://dk-activegate.dynatrace/e/abc12345/api/v2/otlp')
    expect(config({ ...ingest(), ...gateway }).exporters.otlphttp.tls).toEqual({
      ca_file: '/tls/custom/activegate/cert.pem',
    })
    expect(endpoint(ingest())).toBe('https://tenant.live.example.com/api/v2/otlp')
    expect(config({ ...ingest(), trustedCAs: 'certificates' }).exporters.otlphttp.tls).toEqual({
      ca_file: '/tls/custom/cacerts/rootca.pem',
      include_system_ca_certs_pool: true,
    })
    expect(config(ingest()).exporters.otlphttp).not.toHaveProperty('tls')
  })

  it('serves TLS where that is possible', () => {
    const { receivers } = config(ingest({ tlsRefName: 'tls' }))
    const tls = { cert_file: '/tls/custom/telemetry/tls.crt', key_file: '/tls/custom/telemetry/tls.key' }
    const { otlp, jaeger, zipkin, statsd } = receivers
    const { grpc, thrift_http: thrift } = jaeger.protocols
    for (const secured of [otlp.protocols.grpc, otlp.protocols.http, grpc, thrift, zipkin]) {
      expect(secured.tls).toEqual(tls)
    }
    for (const plain of [jaeger.protocols.thrift_binary, jaeger.protocols.thrift_compact, statsd]) {
      expect(plain).not.toHaveProperty('tls')
    }
  })

  it('names an unknown protocol', () => {
    for (const protocol of ['smtp', 'constructor', '__proto__']) {
      expect(() => collectorConfig(renderInput(ingest({ protocols: [protocol] })).dynakube)).toThrow(
        UnknownProtocolError,
      )
    }
  })
})
