import type { Secret, Service, StatefulSet } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { decodeSecret } from '../../../rendering/secret-data.ts'
import { asYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { KNOWN_STATUS, ownedNames, type RenderParts, rendered, renderInput } from '../../testing/render-input.ts'
import { activeGate } from './active-gate.ts'
import { activeGateCertificate } from './certificate.ts'
import { activeGateService } from './service.ts'

type GatewaySpec = NonNullable<DynaKubeSpec['activeGate']>

const gateway = (more: GatewaySpec = {}): Partial<DynaKubeSpec> => ({
  activeGate: { capabilities: ['routing'], ...more },
})
const watching = gateway({ capabilities: ['routing', 'kubernetes-monitoring'] })
const withIps = (...serviceIPs: string[]): RenderParts => ({
  status: { ...KNOWN_STATUS, activeGate: { ...KNOWN_STATUS.activeGate, serviceIPs } },
})
const render = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  [activeGateCertificate, activeGate].flatMap((component) => rendered(component, renderInput(spec, parts)))
const setOf = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  only<StatefulSet>(render(spec, parts), 'StatefulSet')
const podOf = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) => setOf(spec, parts).spec?.template?.spec
const variable = (spec: Partial<DynaKubeSpec>, name: string, parts?: RenderParts) =>
  podOf(spec, parts)?.containers[0]?.env?.filter((entry) => entry.name === name)
const volumes = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  podOf(spec, parts)?.volumes?.map(({ name }) => name)
const secret = (spec: Partial<DynaKubeSpec>, name: string, parts?: RenderParts) =>
  render(spec, parts)
    .map(({ object }) => object)
    .find(({ metadata }) => metadata.name === name) as Secret | undefined

describe('ActiveGate', () => {
  it.each([
    ['routing-and-monitoring', watching, {}],
    ['plain', gateway(), {}],
    [
      'everything',
      {
        ...gateway({
          capabilities: ['kubernetes-monitoring', 'metrics-ingest'],
          replicas: 3,
          group: 'group',
          customProperties: { value: 'a=b' },
          env: [{ name: 'DT_HTTP_PORT', value: '1' }],
          labels: { team: 'a' },
          annotations: { team: 'a' },
          resources: { limits: { memory: '1Gi' } },
          nodeSelector: { disk: 'ssd' },
          priorityClassName: 'high',
          dnsPolicy: 'Default',
          terminationGracePeriodSeconds: 10,
          tolerations: [{ key: 'dedicated', operator: 'Exists' }],
        }),
        extensions: { prometheus: {} },
        telemetryIngest: {},
        kspm: { mappedHostPaths: ['/'] },
        trustedCAs: 'certificates',
        networkZone: 'zone',
        proxy: { value: 'http://proxy:3128' },
        customPullSecret: 'pull',
      },
      {
        flags: { 'no-proxy': 'a,b', 'activegate-apparmor': 'true' },
        facts: {
          activeGateCustomProperties: 'a=b',
          activeGateHashedProperties: 'a=b',
          proxyUrl: 'http://proxy:3128',
        },
      },
    ],
    [
      'claim-and-certificate-of-the-user',
      {
        ...gateway({
          capabilities: ['debugging'],
          replicas: 2,
          tlsSecretName: 'mine',
          volumeClaimTemplate: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '20Gi' } } },
        }),
        otlpExporterConfiguration: { signals: { traces: {} } },
      },
      {
        status: {
          ...KNOWN_STATUS,
          activeGate: { ...KNOWN_STATUS.activeGate, source: 'custom-image', imageID: 'registry.example.com/gateway:1' },
        },
      },
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    '%s matches its golden file',
    async (name, spec, parts) => {
      const objects = [...rendered(activeGateService, renderInput(spec, parts)), ...render(spec, parts)]
      await expectGolden(asYaml(objects), new URL(`../../golden/active-gate/${name}.yaml`, import.meta.url))
    },
  )

  it('needs a capability or extensions', () => {
    expect(render({ telemetryIngest: {} })).toEqual([])
    expect(rendered(activeGateService, renderInput({ telemetryIngest: {} }))).toEqual([])
    const spec: Partial<DynaKubeSpec> = { activeGate: { replicas: 3 }, extensions: { prometheus: {} } }
    expect(setOf(spec).spec?.replicas).toBe(1)
    expect(variable(spec, 'DT_CAPABILITIES')).toEqual([{ name: 'DT_CAPABILITIES', value: 'extension_controller' }])
  })

  it('waits for the address of its Service', () => {
    expect(() => render(gateway(), withIps())).toThrow('ActiveGate is waiting for the address of its Service')
    expect(rendered(activeGateService, renderInput(gateway(), withIps()))).toHaveLength(1)
  })

  it('waits for the certificate that its pods mount', () => {
    expect(activeGate.needs).toContain(activeGateCertificate)
  })

  it('renders only kinds that it may own', () => {
    const spec = gateway({ customProperties: { value: 'a=b' } })
    const names = [activeGateCertificate, activeGate].flatMap((component) => ownedNames(component, renderInput(spec)))
    const facts = { activeGateCustomProperties: 'a=b' }
    expect(
      render(spec, { facts })
        .map(({ object }) => object.metadata.name)
        .sort(),
    ).toEqual(names.sort())
  })

  it('is reached by both ports', () => {
    const service = only<Service>(rendered(activeGateService, renderInput(gateway())), 'Service')
    expect(service.spec?.ports?.map(({ port, targetPort }) => [port, targetPort])).toEqual([
      [443, 'https'],
      [80, 'http'],
    ])
    expect(podOf(gateway())?.containers[0]?.ports?.map(({ containerPort }) => containerPort)).toEqual([9999, 9998])
  })
})

describe('its tenant', () => {
  it.each([
    [
      ['routing', 'kubernetes-monitoring', 'metrics-ingest', 'dynatrace-api'],
      {},
      'MSGrouter,kubernetes_monitoring,metrics_ingest,restInterface',
    ],
    [['routing'], { telemetryIngest: {} }, 'MSGrouter,log_analytics_collector,generic_ingest,otlp_ingest'],
    [
      ['routing'],
      { otlpExporterConfiguration: { signals: { logs: {} } } },
      'MSGrouter,log_analytics_collector,generic_ingest,otlp_ingest',
    ],
    [['debugging', 'unheard-of', 'routing'], {}, 'debugging,MSGrouter'],
  ] as const)('lists what it can do: %j', (capabilities, more, value) => {
    const spec = { ...gateway({ capabilities: [...capabilities] }), ...more }
    expect(variable(spec, 'DT_CAPABILITIES')?.[0]?.value).toBe(value)
  })

  it('says where it is reached', () => {
    const parts = withIps('1.2.3.4', 'fd00::1')
    const addresses = 'https://1.2.3.4:443/communication,https://[fd00::1]:443/communication'
    expect(variable(gateway(), 'DT_DNS_ENTRY_POINT', parts)?.[0]?.value).toBe(
      `${addresses},https://dk-activegate.dynatrace:443/communication`,
    )
    const other = gateway({ capabilities: ['metrics-ingest'] })
    expect(variable(other, 'DT_DNS_ENTRY_POINT', parts)?.[0]?.value).toBe(addresses)
  })

  it('can be overridden', () => {
    const spec = gateway({ env: [{ name: 'DT_HTTP_PORT', value: '1' }] })
    expect(variable(spec, 'DT_HTTP_PORT')).toEqual([{ name: 'DT_HTTP_PORT', value: '1' }])
  })
})

describe('its pods', () => {
  it('trust the cluster when they watch it', () => {
    const pod = podOf(watching)
    expect(pod?.initContainers?.map(({ name }) => name)).toEqual(['certificate-loader'])
    expect(pod?.automountServiceAccountToken).toBe(true)
    expect(pod?.initContainers?.[0]?.securityContext).toEqual(pod?.containers[0]?.securityContext)
    expect(pod?.containers[0]?.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      runAsUser: 1001,
      runAsGroup: 1001,
    })
    expect(pod?.containers[0]?.volumeMounts).toContainEqual({
      name: 'truststore-volume',
      mountPath: '/opt/dynatrace/gateway/jre/lib/security/cacerts',
      subPath: 'k8s-local.jks',
      readOnly: true,
    })
    expect(volumes(gateway())).not.toContain('truststore-volume')
    expect(podOf(gateway())).not.toHaveProperty('initContainers')
    expect(podOf(gateway())?.automountServiceAccountToken).toBe(false)
    expect(volumes(gateway())).not.toContain('cert-tmp')
  })

  it('keep temporary data in a claim when telemetry passes through', () => {
    const spec = { ...gateway(), telemetryIngest: {} }
    const set = setOf(spec)
    expect(set.metadata.annotations?.[ANNOTATIONS.claimsHash]).toBe('257705630')
    expect(set.spec?.volumeClaimTemplates).toEqual([
      {
        metadata: { name: 'ag-tmp-gateway' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ])
    expect(set.spec?.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: 'Delete', whenScaled: 'Delete' })
    expect(volumes(spec)).not.toContain('ag-tmp-gateway')
    const ephemeral = { ...gateway({ useEphemeralVolume: true }), telemetryIngest: {} }
    expect(volumes(ephemeral)).toContain('ag-tmp-gateway')
    expect(podOf(ephemeral)?.securityContext).not.toHaveProperty('fsGroup')
    expect(setOf(ephemeral).metadata).not.toHaveProperty('annotations')
  })

  it('mount the certificates there are', () => {
    const spec = { ...gateway(), trustedCAs: 'certificates' }
    const names = volumes(spec, { flags: { 'automatic-tls-certificate': 'false' } })
    expect(names).toEqual(expect.arrayContaining(['trustedcas', 'ag-lib-gateway-ssl']))
    expect(names).not.toContain('server-certs')
  })

  it('spread over nodes unless the user says how', () => {
    const matchLabels = setOf(gateway()).spec?.selector.matchLabels
    expect(podOf(gateway())?.topologySpreadConstraints).toMatchObject([
      { topologyKey: 'topology.kubernetes.io/zone', labelSelector: { matchLabels } },
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels } },
    ])
    const mine = { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }
    expect(podOf(gateway({ topologySpreadConstraints: [mine] }))?.topologySpreadConstraints).toEqual([mine])
  })

  it('carry annotations of the user and of features', () => {
    const set = setOf(gateway({ annotations: { team: 'a' } }), { flags: { 'activegate-apparmor': 'true' } })
    expect(set.metadata.annotations).toEqual({ team: 'a' })
    expect(set.spec?.template?.metadata?.annotations).toMatchObject({
      team: 'a',
      'container.apparmor.security.beta.kubernetes.io/activegate': 'runtime/default',
    })
  })

  it('see the token of the extension controller', () => {
    const spec = { ...gateway(), extensions: { prometheus: {} } }
    expect(podOf(spec)?.containers[0]?.volumeMounts).toContainEqual({
      name: 'eec-token',
      mountPath: '/var/lib/dynatrace/secrets/eec/token',
      readOnly: true,
    })
    expect(podOf(spec)?.volumes).toContainEqual({
      name: 'eec-token',
      secret: {
        secretName: 'dk-extensions-token',
        defaultMode: 0o644,
        items: [{ key: 'eec.token', path: 'eec.token', mode: 0o644 }],
      },
    })
  })

  it('restart for another token or other settings', () => {
    const hash = (facts: RenderParts['facts'] = {}) =>
      setOf(gateway(), { facts }).spec?.template?.metadata?.annotations?.[ANNOTATIONS.activeGateConfiguration]
    expect(hash({ activeGateAuthToken: 'dt0g02.a.b' })).not.toBe(hash())
    expect(hash({ activeGateHashedProperties: 'x' })).not.toBe(hash())
    expect(hash({ activeGateAuthToken: 'dt0g02.public.secret\n' })).toBe(hash())
  })

  it('carry the same hash as KSPM collectors', () => {
    const spec = { ...watching, kspm: { mappedHostPaths: ['/'] } }
    expect(setOf(spec).spec?.template?.metadata?.annotations?.[ANNOTATIONS.kspmTokenSecret]).toBe('2844084240')
    expect(volumes(spec)).toContain('kspm-token')
  })
})

describe('its settings', () => {
  const text = (spec: Partial<DynaKubeSpec>, parts: RenderParts, name = 'dk-activegate-custom-properties') =>
    decodeSecret(secret(spec, name, parts)?.data).customProperties
  const proxy = { proxy: { value: 'http://proxy:3128' } }
  const flags = { 'no-proxy': 'a,b' }

  it('name hosts without a proxy', () => {
    expect(text({ ...gateway(), ...proxy }, { flags })).toBe('\n[http.client.internal]\nproxy-non-proxy-hosts=a|b')
  })

  it('are omitted when they are empty: pods would wait for a Secret that never comes', () => {
    const spec = gateway({ customProperties: { value: '' } })
    expect(secret(spec, 'dk-activegate-custom-properties')).toBeUndefined()
    expect(volumes(spec)).not.toContain('custom-properties')
    expect(volumes({ ...spec, ...proxy }, { flags })).toContain('custom-properties')
  })

  it('put them into the section of the user', () => {
    const given = 'x=y\n[http.client.internal]\nz=1'
    const spec = { ...gateway({ customProperties: { value: given } }), ...proxy }
    expect(text(spec, { flags, facts: { activeGateCustomProperties: given } })).toBe(
      'x=y\n[http.client.internal]\nproxy-non-proxy-hosts=a|b\nz=1',
    )
  })

  it('are kept under a name that shows their purpose', () => {
    const spec = gateway({ capabilities: ['kubernetes-monitoring'], customProperties: { value: 'x' } })
    const name = 'dk-kubernetes-monitoring-custom-properties'
    expect(text(spec, { facts: { activeGateCustomProperties: 'x' } }, name)).toBe('x')
  })
})

it('an ActiveGate has a certificate of the operator unless the user has one', () => {
  const data = decodeSecret(secret(gateway(), 'dk-activegate-tls-secret')?.data)
  expect(Object.keys(data).sort()).toEqual(['server.crt', 'tls.crt', 'tls.key'])
  expect(data['server.crt']).toBe(data['tls.crt'])
  expect(secret(gateway({ tlsSecretName: 'mine' }), 'dk-activegate-tls-secret')).toBeUndefined()
})
