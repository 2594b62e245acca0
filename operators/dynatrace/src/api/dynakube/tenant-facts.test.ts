import { describe, expect, it } from 'vitest'
import { dynakube } from '../testing/build.ts'
import {
  apiHost,
  defaultActiveGateImage,
  defaultOneAgentImage,
  isApiRequestAllowed,
  tenantFromApiUrl,
  tenantUuid,
} from './tenant-facts.ts'

const at = (apiUrl: string) => dynakube({ apiUrl })

describe('the tenant of a DynaKube', () => {
  it('has its host and port as they are written', () => {
    expect(apiHost(at('https://Tenant.example.com:443/api'))).toBe('Tenant.example.com:443')
    expect(apiHost(at('https://user@[::1]:8443/api'))).toBe('[::1]:8443')
  })

  it.each([
    ['1.234.5', '1.234.5-raw'],
    ['1.234.5-raw', '1.234.5-raw'],
    ['1.239.14.20220325-164521', '1.239.14-raw'],
  ])('has images for version %s', (version, tag) => {
    const object = at('https://test-endpoint/api')
    expect(defaultOneAgentImage(object, version)).toBe(`test-endpoint/linux/oneagent:${tag}`)
    expect(defaultActiveGateImage(object, version)).toBe(`test-endpoint/linux/activegate:${tag}`)
  })

  it.each(['', '/api', 'tenant/api', 'https:///api', 'https://h:port/api', 'https://a b/api', 'https://a\u0007/api'])(
    'has no image when its address is "%s"',
    (apiUrl) => {
      expect(defaultOneAgentImage(at(apiUrl), '1.2.3')).toBe('')
    },
  )

  it('is named by the status of agents before that of gateways, and not before either is known', () => {
    const activeGate = { connectionInfoStatus: { tenantUUID: 'gate' } }
    const oneAgent = { connectionInfoStatus: { tenantUUID: 'agent' } }
    expect(tenantUuid(dynakube({}, { status: { activeGate, oneAgent } }))).toBe('agent')
    expect(tenantUuid(dynakube({}, { status: { activeGate } }))).toBe('gate')
    expect(() => tenantUuid(dynakube())).toThrow(/dynatrace\/dk has no tenantUUID/)
  })

  it('was named by its address in earlier releases', () => {
    expect(tenantFromApiUrl(at('https://gate:9999/e/abc/api'))).toBe('abc')
    expect(tenantFromApiUrl(at('https://..abc.live.example.com/api'))).toBe('abc')
    expect(() => tenantFromApiUrl(at('abc.live.example.com/api'))).toThrow(/"abc\.live\.example\.com\/api"/)
  })

  it.each([
    [undefined, [10, 20], [false, true]],
    [5, [3, 7], [false, true]],
    [20, [17, 22], [false, true]],
    [0, [0], [true]],
  ])('is called again after %s minutes', (dynatraceApiRequestThreshold, minutesAgo, expected) => {
    const now = Date.UTC(2030, 0, 1)
    const object = dynakube(dynatraceApiRequestThreshold === undefined ? {} : { dynatraceApiRequestThreshold })
    const allowed = minutesAgo.map((minutes) =>
      isApiRequestAllowed(object, new Date(now - minutes * 60_000).toISOString(), now),
    )
    expect(allowed).toEqual(expected)
    expect(isApiRequestAllowed(object, undefined, now)).toBe(true)
  })
})
