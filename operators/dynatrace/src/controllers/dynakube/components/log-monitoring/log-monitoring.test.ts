import type { DaemonSet, Secret } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { decodeSecret } from '../../../secret-data.ts'
import { asYaml, only } from '../../testing/golden.ts'
import { KNOWN_STATUS, type RenderParts, renderInput } from '../../testing/render-input.ts'
import { logMonitoring } from './log-monitoring.ts'

const templates = { logMonitoring: { imageRef: { repository: 'registry.example.com/logs', tag: '1.2.3' } } }
const plain: Partial<DynaKubeSpec> = { logMonitoring: {}, templates }
const render = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) => logMonitoring.render(renderInput(spec, parts))
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
    [
      'everything',
      {
        ...plain,
        networkZone: 'zone',
        proxy: { value: 'http://user:password@proxy:3128' },
        activeGate: { capabilities: ['routing'] },
        templates: {
          logMonitoring: {
            ...templates.logMonitoring,
            args: ['-x'],
            labels: { 'app.kubernetes.io/name': 'mine', team: 'a' },
            annotations: { team: 'a' },
            nodeSelector: { disk: 'ssd' },
            resources: { limits: { memory: '1Gi' } },
            priorityClassName: 'high',
            dnsPolicy: 'Default',
            secCompProfile: 'logs.json',
          },
        },
      },
      {
        flags: { 'no-proxy': '*.dev.example' },
        material: { proxyUrl: 'http://user:password@proxy:3128' },
        status: { ...KNOWN_STATUS, proxyURLHash: '0123456789abcdef' },
      },
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    '%s looks as reviewed',
    async (name, spec, parts) => {
      await expect(asYaml(render(spec, parts))).toMatchFileSnapshot(`../../golden/log-monitoring/${name}.yaml`)
    },
  )

  it('is left to OneAgent where there is one (agents 31)', () => {
    expect(render({ ...plain, oneAgent: { hostMonitoring: {} } })).toEqual([])
    expect(render({ ...plain, oneAgent: { applicationMonitoring: {} } })).toHaveLength(2)
  })
})

describe('its configuration', () => {
  it('says how to reach the environment (agents 32)', () => {
    const spec = { ...plain, networkZone: 'zone', proxy: { value: 'http://proxy:3128' } }
    const parts = { flags: { 'no-proxy': 'a,b' }, material: { proxyUrl: 'http://proxy:3128' } }
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

  it('restarts pods for another proxy and not for other endpoints (agents 33)', () => {
    const withProxy = { ...plain, proxy: { value: 'x' } }
    const before = template(withProxy, { status: { ...KNOWN_STATUS, proxyURLHash: 'a' } })
    expect(template(withProxy, { status: { ...KNOWN_STATUS, proxyURLHash: 'b' } })).not.toEqual(before)
    const moved = { ...KNOWN_STATUS.oneAgent?.connectionInfoStatus, endpoints: 'https://elsewhere' }
    const status = { ...KNOWN_STATUS, oneAgent: { ...KNOWN_STATUS.oneAgent, connectionInfoStatus: moved } }
    expect(template(plain, { status })).toEqual(template(plain))
  })
})

it('names the cluster only when its entity is known (agents 34)', () => {
  const [init] = containers(plain)
  expect(init?.args?.at(-1)).toBe('-l /tmp/dynatrace')
  expect(init?.env?.map(({ name }) => name)).not.toContain('K8S_CLUSTER_NAME')
  expect(containers(plain, cluster)[0]?.args).toHaveLength(12)
})

it('has containers that differ in one capability (agents 35)', () => {
  const [init, main] = containers(plain).map(({ securityContext }) => securityContext)
  expect({ ...init, capabilities: undefined }).toEqual({ ...main, capabilities: undefined })
  expect([init?.capabilities?.add, main?.capabilities?.add]).toEqual([['CHOWN'], ['DAC_READ_SEARCH']])
})

it('is privileged on request (agents 36)', () => {
  for (const { securityContext } of containers(plain, { flags: { 'oneagent-privileged': 'true' } })) {
    expect(securityContext).toMatchObject({ privileged: true, allowPrivilegeEscalation: true })
  }
})

it('keeps its own labels (workloads 7)', () => {
  const labels = { 'app.kubernetes.io/name': 'mine' }
  const spec = { ...plain, templates: { logMonitoring: { ...templates.logMonitoring, labels } } }
  expect(template(spec)?.metadata?.labels).toMatchObject({ 'app.kubernetes.io/name': 'dynatrace-operator' })
})
