import type { Secret } from '@reeve/kube'
import type { DesiredObject } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { decodeSecret } from '../../../rendering/secret-data.ts'
import { asReadableYaml, expectGolden } from '../../../rendering/testing/golden.ts'
import { type RenderParts, rendered, renderInput, withFacts } from '../../testing/render-input.ts'
import { exporters as exporterSecrets } from './exporters.ts'
import { injection } from './injection.ts'

const processModuleConfig = {
  revision: '7',
  properties: [
    { section: 'general', key: 'tenant', value: 'stale' },
    { section: 'agentType', key: 'php', value: 'on' },
    { section: 'general', key: 'proxy', value: 'http://stale' },
  ],
}
const cloudNative: Partial<DynaKubeSpec> = { oneAgent: { cloudNativeFullStack: {} } }
/** Init containers download code modules. */
const DOWNLOADS = { operator: { hasCsiDriver: false } }
const enrichment: Partial<DynaKubeSpec> = { metadataEnrichment: { enabled: true } }
const exporters: Partial<DynaKubeSpec> = { otlpExporterConfiguration: { signals: { logs: {} } } }
const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing', 'metrics-ingest'] } }

function render(spec: Partial<DynaKubeSpec>, parts: RenderParts = {}): readonly DesiredObject[] {
  const input = renderInput(spec, { ...parts, facts: { processModuleConfig, ...parts.facts } })
  return [...rendered(injection, input), ...rendered(exporterSecrets, input)]
}
const secrets = (spec: Partial<DynaKubeSpec>, parts?: RenderParts): Record<string, Record<string, string>> =>
  Object.fromEntries(
    render(spec, parts).map(({ object }) => [object.metadata.name ?? '', decodeSecret((object as Secret).data)]),
  )
const config = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  secrets(spec, parts)['dk-bootstrapper-config'] ?? {}

describe('what pods are injected with', () => {
  it.each([
    ['cloud-native', cloudNative, {}],
    ['application-monitoring', { oneAgent: { applicationMonitoring: {} } }, { flags: { 'node-image-pull': 'true' } }],
    ['metadata-enrichment', enrichment, {}],
    ['exporters', exporters, {}],
    [
      'everything',
      {
        ...cloudNative,
        ...enrichment,
        ...exporters,
        ...gateway,
        oneAgent: { hostGroup: 'group', cloudNativeFullStack: {} },
        enableIstio: true,
        networkZone: 'zone',
        proxy: { value: 'http://user:password@proxy:3128' },
        skipCertCheck: true,
        trustedCAs: 'certificates',
      },
      {
        flags: { 'no-proxy': '*.dev.example' },
        facts: { proxyUrl: 'http://user:password@proxy:3128', trustedCertificates: 'certificates of the user' },
      },
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    'by %s matches its golden file',
    async (name, spec, parts) => {
      await expectGolden(
        asReadableYaml(render(spec, parts)),
        new URL(`../../golden/injection/${name}.yaml`, import.meta.url),
      )
    },
  )

  it('is empty without injection', () => {
    expect(secrets({ oneAgent: { hostMonitoring: {} } })).toEqual({})
  })

  it('depends on the features', () => {
    expect(Object.keys(config(cloudNative))).toEqual(['ruxitagentproc.json', 'endpoint.properties'])
    expect(Object.keys(config(enrichment))).toEqual(['endpoint.properties'])
    expect(Object.keys(config(enrichment, DOWNLOADS))).toEqual(['endpoint.properties'])
  })

  it.each([
    ['is mounted by the CSI driver', {}, {}],
    ['is pulled by nodes', DOWNLOADS, { 'node-image-pull': 'true' }],
    ['is mounted or pulled', {}, { 'node-image-pull': 'true' }],
  ])('has no API token where code that %s needs none', (_, parts, flags) => {
    for (const spec of [cloudNative, { oneAgent: { applicationMonitoring: {} } }, { ...cloudNative, ...exporters }]) {
      expect(JSON.stringify(secrets(spec, { ...parts, flags }))).not.toContain('api-token')
    }
  })

  it('says how to download, with all keys', () => {
    const spec = { ...cloudNative, networkZone: 'zone', proxy: { value: 'http://proxy' }, skipCertCheck: true }
    const parts = { ...DOWNLOADS, facts: { proxyUrl: 'http://proxy' }, flags: { 'no-proxy': 'a' } }
    expect(JSON.parse(config(spec, parts)['dtclient.config'] ?? '')).toEqual({
      url: 'https://tenant.live.example.com/api',
      apiToken: 'api-token',
      proxy: 'http://proxy',
      noProxy: 'a',
      networkZone: 'zone',
      hostGroup: '',
      skipCertCheck: true,
    })
  })

  it('configures code modules, sorted and each key once', () => {
    expect(JSON.parse(config(cloudNative)['ruxitagentproc.json'] ?? '')).toEqual({
      properties: [
        { section: 'agentType', key: 'php', value: 'on' },
        { section: 'general', key: 'serverAddress', value: '{https://tenant.live.example.com:443/communication}' },
        { section: 'general', key: 'tenant', value: 'abc12345' },
        { section: 'general', key: 'tenantToken', value: 'test-token' },
      ],
      revision: 7,
    })
  })

  it('keeps a revision that a number would not', () => {
    const facts = { processModuleConfig: { ...processModuleConfig, revision: '18446744073709551615' } }
    expect(config(cloudNative, { facts })['ruxitagentproc.json']).toMatch(/,"revision":18446744073709551615\}$/)
  })

  it('names hosts without the proxy next to it', () => {
    const spec = { ...cloudNative, ...gateway, proxy: { value: 'http://proxy' } }
    const text = config(spec, { facts: { proxyUrl: 'http://proxy' }, flags: { 'no-proxy': 'a' } })[
      'ruxitagentproc.json'
    ]
    const { properties } = JSON.parse(text ?? '')
    expect(properties).toContainEqual({
      section: 'general',
      key: 'noProxy',
      value: '10.96.0.7,dk-activegate.dynatrace,a',
    })
  })

  it.each([
    [{}, {}, undefined],
    [{ enableIstio: true }, {}, '6000'],
    [{}, { 'oneagent-initial-connect-retry-ms': '5' }, '5'],
  ])('waits before connecting again: %j %j', (spec, flags, value) => {
    expect(config({ ...cloudNative, ...spec }, { flags })['initial-connect-retry']).toBe(value)
  })

  it('sends metrics to the gateway, or to the tenant', () => {
    const token = 'DT_METRICS_INGEST_API_TOKEN=ingest-token\n'
    expect(config({ ...enrichment, ...gateway })['endpoint.properties']).toBe(
      `DT_METRICS_INGEST_URL=http://dk-activegate.dynatrace/e/abc12345/api/v2/metrics/ingest\n${token}`,
    )
    expect(config(enrichment)['endpoint.properties']).toBe(
      `DT_METRICS_INGEST_URL=https://tenant.live.example.com/api/v2/metrics/ingest\n${token}`,
    )
  })

  it('includes certificates where there are any', () => {
    expect(secrets({ ...cloudNative, ...gateway })['dk-bootstrapper-certs']).toEqual({
      'activegate.pem': 'gateway certificate',
    })
    const facts = { trustedCertificates: 'mine' }
    expect(secrets({ ...cloudNative, trustedCAs: 'x' }, { facts })['dk-bootstrapper-certs']).toEqual({
      'trusted.pem': 'mine',
    })
    expect(secrets(cloudNative)['dk-bootstrapper-certs']).toBeUndefined()
  })

  it('configures exporters', () => {
    expect(secrets({ ...exporters, ...gateway })).toEqual({
      'dk-otlp-exporter-config': { dataIngestToken: 'ingest-token' },
      'dk-otlp-exporter-certs': { 'activegate-tls.crt': 'gateway certificate' },
    })
    expect(secrets(exporters)).toEqual({ 'dk-otlp-exporter-config': { dataIngestToken: 'ingest-token' } })
    const input = renderInput(exporters)
    const lacking = withFacts(input, { dataIngestToken: undefined })
    expect(() => rendered(exporterSecrets, lacking)).toThrow(/the Secret dynatrace\/dk has no dataIngestToken/)
  })
})
