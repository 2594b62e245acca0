import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { type DynaKubeParts, dynakube } from '../../../../api/testing/build.ts'
import type { Tokens } from '../../../tenant-access/tokens.ts'
import { optionalScopes, tokenDemands } from './token-scopes.ts'

const WATCHING = { detectsHostAvailability: true }
const API: Tokens = { apiToken: 'api' }

/** Scopes that a token must have. */
function required(
  key: string,
  spec: Partial<DynaKubeSpec>,
  tokens: Tokens = { ...API, dataIngestToken: 'ingest' },
  settings = WATCHING,
): readonly string[] {
  const demand = tokenDemands(dynakube(spec), tokens, settings).find((one) => one.key === key)
  return [...new Set(demand?.features.flatMap((feature) => feature.required))].sort()
}
const optional = (spec: Partial<DynaKubeSpec>, parts: DynaKubeParts = {}) =>
  [...optionalScopes(dynakube(spec, parts), API, WATCHING)].sort()

describe('the API token', () => {
  it('downloads and reads hosts, with any features', () => {
    expect(required('apiToken', {})).toEqual(['DataExport', 'InstallerDownload'])
  })

  it('reads no hosts when removed nodes are not reported', () => {
    const unwatched = { detectsHostAvailability: false }
    expect(required('apiToken', {}, API, unwatched)).toEqual(['InstallerDownload'])
  })

  it.each(['paas', ''])('does not download next to a paasToken %j', (paasToken) => {
    expect(required('apiToken', {}, { ...API, paasToken })).toEqual(['DataExport'])
    expect(required('paasToken', {}, { ...API, paasToken })).toEqual(['InstallerDownload'])
  })

  it('makes tokens for gateways', () => {
    expect(required('apiToken', { activeGate: { capabilities: ['routing'] } })).toContain(
      'activeGateTokenManagement.create',
    )
  })

  it.each([
    [{ activeGate: { capabilities: ['kubernetes-monitoring'] } }, ['settings.read', 'settings.write']],
    [{ logMonitoring: {} }, ['settings.read', 'settings.write']],
    [{ oneAgent: { applicationMonitoring: {} } }, ['settings.read']],
    [{ oneAgent: { hostMonitoring: {} } }, []],
    [{ telemetryIngest: {} }, ['settings.read']],
    [{ extensions: { prometheus: {} } }, ['settings.read']],
    [{ metadataEnrichment: { enabled: true } }, ['settings.read']],
    [{ otlpExporterConfiguration: { signals: { logs: {} } } }, ['settings.read']],
  ] as readonly (readonly [Partial<DynaKubeSpec>, readonly string[]])[])(
    'can make use of settings for %j',
    (spec, scopes) => {
      expect(optional(spec)).toEqual(scopes)
    },
  )

  it('announces no cluster where that is switched off', () => {
    const flags = { 'automatic-kubernetes-api-monitoring': 'false' }
    expect(optional({ activeGate: { capabilities: ['kubernetes-monitoring'] } }, { flags })).toEqual([])
  })
})

describe('the token for ingest', () => {
  const [METRICS, TRACES, LOGS] = ['metrics.ingest', 'openTelemetryTrace.ingest', 'logs.ingest']

  it.each([
    [{ activeGate: { capabilities: ['metrics-ingest'] } }, [METRICS]],
    [{ telemetryIngest: { protocols: ['zipkin'] } }, [TRACES]],
    [{ telemetryIngest: { protocols: ['jaeger'] } }, [TRACES]],
    [{ telemetryIngest: { protocols: ['statsd'] } }, [METRICS]],
    [{ telemetryIngest: { protocols: ['otlp'] } }, [LOGS, METRICS, TRACES]],
    [{ telemetryIngest: {} }, [LOGS, METRICS, TRACES]],
    [{ otlpExporterConfiguration: { signals: { traces: {} } } }, [TRACES]],
    [{ otlpExporterConfiguration: { signals: { logs: {}, metrics: {} } } }, [LOGS, METRICS]],
  ] as readonly (readonly [Partial<DynaKubeSpec>, readonly string[]])[])('ingests for %j', (spec, scopes) => {
    expect(required('dataIngestToken', spec)).toEqual(scopes)
  })

  it('is looked up although no feature uses it, and needs no scope then', () => {
    const demands = tokenDemands(dynakube({}), { ...API, dataIngestToken: 'ingest' }, WATCHING)
    expect(demands.map(({ key }) => key)).toEqual(['apiToken', 'dataIngestToken'])
    expect(required('dataIngestToken', {})).toEqual([])
  })
})
