import type { ConfigMap, Service, StatefulSet } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { ANNOTATIONS } from '../../../annotations.ts'
import { asYaml, only } from '../../testing/golden.ts'
import { type RenderParts, renderInput } from '../../testing/render-input.ts'
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
  only<StatefulSet>(otelCollector.render(renderInput(spec, parts)), 'StatefulSet')
const container = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  setOf(spec, parts).spec?.template?.spec?.containers[0]
const variable = (spec: Partial<DynaKubeSpec>, name: string, parts?: RenderParts) =>
  container(spec, parts)?.env?.find((entry) => entry.name === name)?.value
const config = (spec: Partial<DynaKubeSpec>) =>
  parse(collectorConfigData(renderInput(spec).dynakube)['telemetry.yaml'] ?? '')
const endpoint = (spec: Partial<DynaKubeSpec>) =>
  telemetryIngest
    .render(renderInput(spec))
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
        trustedCAs: 'certificates',
        proxy: { valueFrom: 'proxy' },
      },
      { flags: { 'no-proxy': ' a , ,b' }, material: { telemetryTlsData: { 'tls.crt': 'x', 'tls.key': 'y' } } },
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    'for %s looks as reviewed',
    async (name, spec, parts) => {
      const input = renderInput(spec, parts)
      const objects = [...telemetryIngest.render(input), ...otelCollector.render(input)]
      await expect(asYaml(objects)).toMatchFileSnapshot(`../../golden/otel-collector/${name}.yaml`)
    },
  )

  it('is told where its configuration is, extensions first (gateway 47)', () => {
    const args = container({ ...ingest(), ...prometheus })?.args
    expect(args?.map((argument) => argument.slice(0, 15))).toEqual(['--config=eec://', '--config=file:/'])
  })

  it('knows how many share the work (gateway 48)', () => {
    const spec = { ...ingest(), templates: { otelCollector: { ...templates?.otelCollector, replicas: 3 } } }
    expect(variable(spec, 'SHARDS')).toBe('3')
    expect(setOf(spec).spec).toMatchObject({ replicas: 3, podManagementPolicy: 'Parallel' })
  })

  it('stays for Prometheus when telemetry is no longer received (gateway 49)', () => {
    const input = renderInput(prometheus)
    expect(telemetryIngest.render(input)).toEqual([])
    expect(otelCollector.render(input)).toHaveLength(1)
    expect(container(prometheus)?.volumeMounts?.map(({ name }) => name)).toEqual(['tokens', 'extension-controller-tls'])
  })

  it('waits for the token with which telemetry is sent (gateway 46)', () => {
    const input = renderInput(ingest())
    const { dataIngestToken: _none, ...material } = input.material
    expect(() => otelCollector.render({ ...input, material })).toThrow(/dataIngestToken in the Secret dk/)
  })

  it('reaches its neighbours without the proxy (gateway 44, 45)', () => {
    const proxy = { proxy: { value: 'http://proxy:3128' } }
    expect(variable({ ...ingest(), ...proxy }, 'NO_PROXY')).toBe('$(KUBERNETES_SERVICE_HOST),kubernetes.default')
    const flags = { 'no-proxy': ' a , ,b' }
    expect(variable({ ...ingest(), ...gateway, ...proxy }, 'NO_PROXY', { flags })).toBe(
      '$(KUBERNETES_SERVICE_HOST),kubernetes.default,dk-activegate.dynatrace,a,b',
    )
  })

  it('restarts when its configuration changes (gateway 43)', () => {
    const hash = (spec: Partial<DynaKubeSpec>) =>
      setOf(spec).spec?.template?.metadata?.annotations?.[ANNOTATIONS.telemetryConfig]
    expect(hash(ingest({ protocols: ['zipkin'] }))).not.toBe(hash(ingest()))
  })
})

describe('its configuration', () => {
  it.each([
    [undefined, 11_576, '2471292416'],
    [['zipkin'], 9_910, '3575691931'],
  ])('for %j is the text that installations carry (gateway 51)', (protocols, length, hash) => {
    const spec = ingest(protocols ? { protocols } : {})
    const text = collectorConfigData(renderInput(spec).dynakube)['telemetry.yaml'] ?? ''
    expect(Buffer.byteLength(text)).toBe(length)
    expect(setOf(spec).spec?.template?.metadata?.annotations?.[ANNOTATIONS.telemetryConfig]).toBe(hash)
  })

  it('reads back as what was meant', () => {
    const { dynakube } = renderInput({ ...ingest({ tlsRefName: 'tls' }), ...gateway, trustedCAs: 'certificates' })
    expect(parse(collectorConfigData(dynakube)['telemetry.yaml'] ?? '')).toEqual(collectorConfig(dynakube))
  })

  it('receives everything unless the user chooses (gateway 38, 39)', () => {
    expect(Object.keys(config(ingest()).receivers)).toHaveLength(4)
    expect(Object.keys(config(ingest()).service.pipelines).sort()).toEqual(['logs', 'metrics', 'traces'])
    expect(config(ingest({ protocols: ['statsd'] })).service.pipelines).toMatchObject({
      metrics: { receivers: ['statsd'] },
    })
    expect(Object.keys(config(ingest({ protocols: ['zipkin'] })).service.pipelines)).toEqual(['traces'])
    const service = only<Service>(telemetryIngest.render(renderInput(ingest())), 'Service')
    expect(service.spec?.ports).toHaveLength(8)
  })

  it('sends to the gateway, or to the environment (gateway 41)', () => {
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

  it('serves TLS where that is possible (gateway 42)', () => {
    const { receivers } = config(ingest({ tlsRefName: 'tls' }))
    const tls = { cert_file: '/tls/custom/telemetry/tls.crt', key_file: '/tls/custom/telemetry/tls.key' }
    const { otlp, jaeger, zipkin, statsd } = receivers
    for (const secured of [otlp.protocols.grpc, otlp.protocols.http, jaeger.protocols.thrift_http, zipkin]) {
      expect(secured.tls).toEqual(tls)
    }
    for (const plain of [jaeger.protocols.thrift_binary, jaeger.protocols.thrift_compact, statsd]) {
      expect(plain).not.toHaveProperty('tls')
    }
  })

  it('names a protocol that nobody understands', () => {
    expect(() => collectorConfig(renderInput(ingest({ protocols: ['smtp'] })).dynakube)).toThrow(UnknownProtocolError)
  })
})
