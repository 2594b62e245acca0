import type { DaemonSet, Secret } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { TenantUnknownError } from '../../../../api/dynakube/tenant-facts.ts'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { decodeSecret } from '../../../rendering/secret-data.ts'
import { asReadableYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { KNOWN_STATUS, ownedNames, type RenderParts, rendered, renderInput } from '../../testing/render-input.ts'
import { logMonitoring } from './log-monitoring.ts'

const templates = { logMonitoring: { imageRef: { repository: 'registry.example.com/logs', tag: '1.2.3' } } }
const plain: Partial<DynaKubeSpec> = { logMonitoring: {}, templates }
const render = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) => rendered(logMonitoring, renderInput(spec, parts))
const conf = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  decodeSecret(only<Secret>(render(spec, parts), 'Secret').data)['deployment.conf']
const template = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  only<DaemonSet>(render(spec, parts), 'DaemonSet').spec?.template
const containers = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) => {
  const pod = template(spec, parts)?.spec
  return [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]
}
const cluster: RenderParts = {
  status: { ...KNOWN_STATUS, kubernetesClusterMEID: 'KUBERNETES_CLUSTER-1', kubernetesClusterName: 'prod' },
}

describe('log monitoring', () => {
  it.each([
    ['plain', plain, {}],
    ['cluster-entity', plain, cluster],
    ['privileged', plain, { flags: { 'oneagent-privileged': 'true' } }],
    [
      'everything',
      {
        ...plain,
        networkZone: 'zone',
        proxy: { value: 'http://user:password@proxy:3128' },
        activeGate: { capabilities: ['routing'] },
        customPullSecret: 'pull',
        templates: {
          logMonitoring: {
            ...templates.logMonitoring,
            args: ['-x'],
            labels: { 'app.kubernetes.io/name': 'mine', team: 'a' },
            annotations: { team: 'a', 'internal.operator.dynatrace.com/no-proxy': 'mine' },
            nodeSelector: { disk: 'ssd' },
            tolerations: [{ key: 'dedicated', operator: 'Exists' }],
            resources: { limits: { memory: '1Gi' } },
            priorityClassName: 'high',
            dnsPolicy: 'Default',
            secCompProfile: 'logs.json',
          },
        },
      },
      {
        // The log agent has no flag to ignore the proxy.
        flags: { 'no-proxy': '*.dev.example', 'oneagent-ignore-proxy': 'true', 'oneagent-max-unavailable': '5' },
        facts: { proxyUrl: 'http://user:password@proxy:3128' },
        status: { ...KNOWN_STATUS, proxyURLHash: '0123456789abcdef' },
      },
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    '%s matches its golden file',
    async (name, spec, parts) => {
      await expectGolden(
        asReadableYaml(render(spec, parts)),
        new URL(`../../golden/log-monitoring/${name}.yaml`, import.meta.url),
      )
    },
  )

  it('is left to OneAgent if there is one', () => {
    expect(render({ ...plain, oneAgent: { hostMonitoring: {} } })).toEqual([])
    expect(render({ ...plain, oneAgent: { applicationMonitoring: {} } })).toHaveLength(2)
  })

  it('renders only kinds that it may own', () => {
    const names = (objects: readonly { readonly name?: string | undefined }[]) => objects.map(({ name }) => name).sort()
    expect(names(render(plain).map(({ object }) => object.metadata))).toEqual(
      names(ownedNames(logMonitoring, renderInput(plain)).map((name) => ({ name }))),
    )
  })

  it.each([
    [{}, 'registry.lab.dynatrace.org/oneagent/dynatrace-logmodule-amd64:latest'],
    [{ tag: '2' }, 'registry.lab.dynatrace.org/oneagent/dynatrace-logmodule-amd64:2'],
    [{ repository: 'registry.example.com/logs' }, 'registry.example.com/logs:latest'],
  ])('fills up an image that admission would have refused: %j', (imageRef, image) => {
    const spec = { logMonitoring: {}, templates: { logMonitoring: { imageRef } } }
    expect(containers(spec).map((container) => container.image)).toEqual([image, image])
  })

  it('waits for the tenant to be known', () => {
    const { oneAgent, activeGate } = KNOWN_STATUS
    const status = {
      oneAgent: { ...oneAgent, connectionInfoStatus: {} },
      activeGate: { ...activeGate, connectionInfoStatus: {} },
    }
    expect(() => render(plain, { status })).toThrow(TenantUnknownError)
  })
})

describe('its configuration', () => {
  it('says how to reach the tenant', () => {
    const spec = { ...plain, networkZone: 'zone', proxy: { value: 'http://proxy:3128' } }
    const parts = { flags: { 'no-proxy': 'a,b' }, facts: { proxyUrl: 'http://proxy:3128' } }
    expect(conf(spec, parts)).toBe(
      [
        'Server={https://tenant.live.example.com:443/communication}',
        'Tenant=abc12345',
        'TenantToken=test-token',
        'HostIdSource=k8s-node-name',
        'Proxy=http://proxy:3128',
        'noProxy=a,b',
        'Location=zone',
        '',
      ].join('\n'),
    )
    const annotations = template(spec, parts)?.metadata?.annotations ?? {}
    expect(Object.keys(annotations).map((name) => name.split('/')[1])).toEqual([
      'tenant-token-hash',
      'network-zone',
      'proxy-hash',
      'no-proxy',
    ])
  })

  it('restarts pods for another proxy and not for other endpoints', () => {
    const withProxy = { ...plain, proxy: { value: 'x' } }
    const before = template(withProxy, { status: { ...KNOWN_STATUS, proxyURLHash: 'a' } })
    expect(template(withProxy, { status: { ...KNOWN_STATUS, proxyURLHash: 'b' } })).not.toEqual(before)
    const moved = { ...KNOWN_STATUS.oneAgent?.connectionInfoStatus, endpoints: 'https://elsewhere' }
    const status = { ...KNOWN_STATUS, oneAgent: { ...KNOWN_STATUS.oneAgent, connectionInfoStatus: moved } }
    expect(template(plain, { status })).toEqual(template(plain))
    expect(conf(plain, { status })).toContain('Server={https://elsewhere}\n')
  })

  it('lists hosts of no-proxy although there is no proxy, and omits blank ones', () => {
    const gateway = { ...plain, activeGate: { capabilities: ['routing'] } }
    expect(conf(gateway)).toMatch(/^noProxy=10\.96\.0\.7,dk-activegate\.dynatrace$/m)
    expect(conf(gateway, { flags: { 'no-proxy': ' ' } })).toBe(conf(gateway))
    expect(conf(plain, { flags: { 'no-proxy': 'a' } })).toMatch(/^noProxy=a$/m)
    expect(conf(plain)).not.toMatch(/noProxy|Proxy|Location/)
  })

  it('has the token without what surrounds it', () => {
    expect(conf(plain, { facts: { oneAgentTenantToken: ' token\n' } })).toMatch(/^TenantToken=token$/m)
  })
})

it.each([{ kubernetesClusterMEID: 'KUBERNETES_CLUSTER-1' }, { kubernetesClusterName: 'prod' }, {}])(
  'the DaemonSet of log monitoring names the cluster only when both its entity and its name are known: %j',
  (known) => {
    const args = ['-x']
    const spec = { ...plain, templates: { logMonitoring: { ...templates.logMonitoring, args } } }
    const [init, main] = containers(spec, { status: { ...KNOWN_STATUS, ...known } })
    expect(init?.args?.slice(-2)).toEqual(['-l /tmp/dynatrace', '-x'])
    const names = init?.env?.map(({ name }) => name)
    expect(names).not.toContain('K8S_CLUSTER_NAME')
    expect(names).not.toContain('DT_ENTITY_KUBERNETES_CLUSTER')
    expect(main).not.toHaveProperty('args')
    expect(containers(spec, cluster)[0]?.args).toHaveLength(13)
  },
)

it('the containers of log monitoring differ in one capability', () => {
  const [init, main] = containers(plain).map(({ securityContext }) => securityContext)
  expect({ ...init, capabilities: undefined }).toEqual({ ...main, capabilities: undefined })
  expect([init?.capabilities?.add, main?.capabilities?.add]).toEqual([['CHOWN'], ['DAC_READ_SEARCH']])
})

it('the DaemonSet of log monitoring is privileged on request', () => {
  const all = containers(plain, { flags: { 'oneagent-privileged': 'true' } })
  expect(all).toHaveLength(2)
  for (const { securityContext } of all) {
    expect(securityContext).toMatchObject({ privileged: true, allowPrivilegeEscalation: true })
  }
})
