import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { dynakube } from '../testing/build.ts'
import {
  activeGateReplicas,
  activeGateTlsSecretName,
  capabilityArguments,
  certificateOf,
  collectorNeedsTrustedCertificates,
  customPropertiesSecretName,
  hasActiveGate,
  hasActiveGateCertificate,
  needsCustomProperties,
} from './active-gate-facts.ts'
import { oneAgentUsesProxy, proxyUrl, proxyUrlHash } from './proxy.ts'

const withCapabilities = (...capabilities: string[]) => dynakube({ activeGate: { capabilities, replicas: 3 } })

describe('the ActiveGate of a DynaKube', () => {
  it('runs once when only extensions need it', () => {
    const object = dynakube({ extensions: { prometheus: {} }, activeGate: { replicas: 3 } })
    expect(hasActiveGate(object)).toBe(true)
    expect(activeGateReplicas(object)).toBe(1)
    expect(capabilityArguments(object)).toEqual(['extension_controller'])
  })

  it('is off without capabilities, even with KSPM', () => {
    expect(hasActiveGate(dynakube({ activeGate: { capabilities: [] }, kspm: {} }))).toBe(false)
  })

  it('passes capabilities to its container in the order of the user, then those that features add', () => {
    const object = dynakube({
      activeGate: { capabilities: ['dynatrace-api', 'routing'], replicas: 3 },
      telemetryIngest: {},
    })
    expect(activeGateReplicas(object)).toBe(3)
    expect(capabilityArguments(object)).toEqual([
      'restInterface',
      'MSGrouter',
      'log_analytics_collector',
      'generic_ingest',
      'otlp_ingest',
    ])
  })

  it('does not pass unknown capabilities to its container', () => {
    expect(capabilityArguments(withCapabilities('routing', 'constructor', 'telepathy'))).toEqual(['MSGrouter'])
  })

  it('is trusted by the collector by its own certificate, or the tenant by the given ones', () => {
    const facts = (object: ReturnType<typeof dynakube>) => [
      collectorNeedsTrustedCertificates(object),
      hasActiveGateCertificate(object),
    ]
    expect(facts(dynakube({ trustedCAs: 'cas' }))).toEqual([true, false])
    expect(facts(dynakube({ trustedCAs: 'cas', activeGate: { capabilities: ['routing'] } }))).toEqual([false, true])
  })

  it('shows tls.crt rather than server.crt', () => {
    expect(certificateOf({ 'server.crt': 'old' })).toBe('old')
    expect(certificateOf({ 'server.crt': 'old', 'tls.crt': 'new' })).toBe('new')
    expect(certificateOf({})).toBeUndefined()
  })

  it('has a certificate of the user, of the operator or none', () => {
    const flags = { 'automatic-tls-certificate': 'false' }
    expect(activeGateTlsSecretName(dynakube({ activeGate: { tlsSecretName: 'mine' } }))).toBe('mine')
    expect(activeGateTlsSecretName(dynakube())).toBe('dk-activegate-tls-secret')
    expect(activeGateTlsSecretName(dynakube({}, { flags }))).toBe('')
  })

  it('keeps settings in a Secret named after what it does', () => {
    expect(customPropertiesSecretName(withCapabilities('routing'))).toBe('dk-activegate-custom-properties')
    expect(customPropertiesSecretName(withCapabilities('kubernetes-monitoring'))).toBe(
      'dk-kubernetes-monitoring-custom-properties',
    )
    expect(needsCustomProperties(dynakube({ proxy: { value: 'p' } }, { flags: { 'no-proxy': 'a' } }))).toBe(true)
    expect(needsCustomProperties(dynakube({}, { flags: { 'no-proxy': 'a' } }))).toBe(false)
  })
})

describe('the proxy of a DynaKube', () => {
  it('is taken from the field without reading a Secret', async () => {
    const readSecret = () => Promise.reject(new Error('must not be read'))
    expect(await proxyUrl(dynakube({ proxy: { value: 'http://p:1', valueFrom: 's' } }), readSecret)).toBe('http://p:1')
    expect(await proxyUrl(dynakube(), readSecret)).toBeUndefined()
  })

  it('is taken from a Secret, and what is missing there is named', async () => {
    const object = dynakube({ proxy: { valueFrom: 'web' } })
    expect(await proxyUrl(object, async () => ({ proxy: 'http://p:1' }))).toBe('http://p:1')
    await expect(proxyUrl(object, async () => undefined)).rejects.toThrow(/the Secret web does not exist/)
    await expect(proxyUrl(object, async () => ({}))).rejects.toThrow(/Secret web has no key proxy/)
    await expect(proxyUrl(object, () => Promise.reject(new Error('down')))).rejects.toThrow(/web cannot be read/)
  })

  it('is left out for agents by flag', () => {
    expect(oneAgentUsesProxy(dynakube({ proxy: { value: 'p' } }))).toBe(true)
    expect(oneAgentUsesProxy(dynakube({ proxy: { value: 'p' } }, { flags: { 'oneagent-ignore-proxy': '1' } }))).toBe(
      false,
    )
  })

  it('is hashed with its quotes', () => {
    const expected = createHash('sha256').update('"http://p:1"').digest('hex').slice(0, 16)
    expect(proxyUrlHash('http://p:1')).toBe(expected)
  })
})
