import type { DesiredObject } from '@reeve/runtime'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec, DynaKubeStatus } from '../../../../api/latest.ts'
import { asYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { KNOWN_STATUS, rendered, renderInput } from '../../testing/render-input.ts'
import { istioForActiveGate, istioForCodeModules } from '../connection/istio.ts'
import { istioForApi } from './istio.ts'
import type { ServiceEntry, VirtualService } from './resources.ts'

type Host = NonNullable<
  NonNullable<NonNullable<DynaKubeStatus['oneAgent']>['connectionInfoStatus']>['communicationHosts']
>[number]

const MESH: Partial<DynaKubeSpec> = {
  enableIstio: true,
  oneAgent: { cloudNativeFullStack: {} },
  activeGate: { capabilities: ['routing'] },
}

const statusWith = (communicationHosts: Host[], endpoints = ''): DynaKubeStatus => ({
  ...KNOWN_STATUS,
  oneAgent: { ...KNOWN_STATUS.oneAgent, connectionInfoStatus: { communicationHosts } },
  activeGate: { ...KNOWN_STATUS.activeGate, connectionInfoStatus: { endpoints } },
})
const forHosts = (hosts: Host[], spec = MESH) =>
  rendered(istioForCodeModules, renderInput(spec, { status: statusWith(hosts) }))
const forEndpoints = (endpoints: string, spec = MESH) =>
  rendered(istioForActiveGate, renderInput(spec, { status: statusWith([], endpoints) }))
const idsOf = (objects: readonly DesiredObject[]) =>
  objects.map(({ object }) => `${object.kind}/${object.metadata.name}`)
const named = (objects: readonly DesiredObject[], name: string) =>
  only<ServiceEntry>(
    objects.filter(({ object }) => object.metadata.name === name),
    'ServiceEntry',
  ).spec

const MIXED: Host[] = [
  { protocol: 'https', host: '10.0.0.1', port: 8000 },
  { protocol: 'http', host: 'x.io', port: 80 },
  { protocol: 'https', host: 'y.io', port: 443 },
  { protocol: 'https', host: 'y.io', port: 9999 },
]

describe('the way out of a mesh', () => {
  it('matches its golden file', async () => {
    const input = renderInput(MESH, {
      status: statusWith(MIXED, 'https://g.io:443/communication,http://10.0.0.2:9999'),
    })
    const objects = [istioForApi, istioForCodeModules, istioForActiveGate].flatMap((one) => rendered(one, input))
    await expectGolden(asYaml(objects), new URL('../../golden/istio/everything.yaml', import.meta.url))
  })

  it('is not created by default', () => {
    const input = renderInput({ ...MESH, enableIstio: false }, { status: statusWith(MIXED, 'https://g.io:443') })
    for (const one of [istioForApi, istioForCodeModules, istioForActiveGate]) expect(rendered(one, input)).toEqual([])
  })

  it('leads to the API by the name in the handshake', () => {
    const objects = rendered(
      istioForApi,
      renderInput({ enableIstio: true, apiUrl: 'https://t.live.dynatrace.com/api' }),
    )
    expect(idsOf(objects)).toEqual(['ServiceEntry/dk-fqdn-operator', 'VirtualService/dk-fqdn-operator'])
    expect(named(objects, 'dk-fqdn-operator')?.ports).toEqual([{ name: 'https-443', number: 443, protocol: 'HTTPS' }])
    expect(only<VirtualService>(objects, 'VirtualService').spec?.tls?.[0]?.match).toEqual([
      { sniHosts: ['t.live.dynatrace.com'], port: 443 },
    ])
  })

  it('leads to addresses and to names, and only names are routed', () => {
    const objects = forHosts(MIXED.slice(0, 2))
    expect(idsOf(objects)).toEqual([
      'ServiceEntry/dk-ip-oneagent',
      'ServiceEntry/dk-fqdn-oneagent',
      'VirtualService/dk-fqdn-oneagent',
    ])
    expect(named(objects, 'dk-ip-oneagent')).toEqual({
      hosts: ['ignored.subdomain'],
      addresses: ['10.0.0.1/32'],
      ports: [{ name: 'TCP-8000', number: 8000, protocol: 'TCP' }],
    })
    expect(named(objects, 'dk-fqdn-oneagent')?.ports).toEqual([{ name: 'http-80', number: 80, protocol: 'HTTP' }])
    expect(only<VirtualService>(objects, 'VirtualService').spec).toEqual({
      hosts: ['x.io'],
      http: [{ match: [{ port: 80 }], route: [{ destination: { host: 'x.io', port: { number: 80 } } }] }],
    })
  })

  it('is for code modules that are injected and for gateways that run', () => {
    expect(forHosts(MIXED, { ...MESH, oneAgent: { hostMonitoring: {} } })).toEqual([])
    const { activeGate: _none, ...without } = MESH
    expect(forEndpoints('https://g.io:443', without)).toEqual([])
  })

  it('takes what can be read of the endpoints of gateways', () => {
    const endpoints = 'https://g.io/communication, https://g.io:9999,,nonsense,h:443,ftp://f.io:21,https://g.io:9999'
    const objects = forEndpoints(endpoints)
    expect(named(objects, 'dk-fqdn-activegate')).toMatchObject({
      hosts: ['f.io', 'g.io'],
      ports: [
        { name: 'ftp-21', number: 21, protocol: 'FTP' },
        { name: 'https-80', number: 80, protocol: 'HTTPS' },
        { name: 'https-9999', number: 9999, protocol: 'HTTPS' },
      ],
    })
    expect(only<VirtualService>(objects, 'VirtualService').spec?.tls).toHaveLength(2)
  })

  it('has no VirtualService when nothing can be routed', () => {
    expect(idsOf(forEndpoints('ftp://f.io:21'))).toEqual(['ServiceEntry/dk-fqdn-activegate'])
  })

  it('does not depend on the order in which the tenant names hosts', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(MIXED, { minLength: MIXED.length }), (hosts) => {
        expect(forHosts(hosts)).toEqual(forHosts(MIXED))
      }),
    )
  })

  it('renders only kinds that it declares', () => {
    for (const one of [istioForApi, istioForCodeModules, istioForActiveGate]) {
      const input = renderInput(MESH, { status: statusWith(MIXED, 'https://g.io:443') })
      const allowed = (one.mayOwn?.(input.primary) ?? []).map(({ resource, name }) => `${resource.kind}/${name}`)
      expect(allowed).toEqual(expect.arrayContaining(idsOf(rendered(one, input))))
    }
  })
})
