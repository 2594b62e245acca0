import type { Container, DaemonSet } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { asYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { renderDynaKube } from '../../testing/render-all.ts'
import { KNOWN_STATUS, ownedNames, type RenderParts, rendered, renderInput } from '../../testing/render-input.ts'
import { healthCheckOf } from '../versions/resolve-version.ts'
import { InvalidAgentVersionError, oneAgent } from './one-agent.ts'

const render = (spec: Partial<DynaKubeSpec>, parts: RenderParts = {}) => rendered(oneAgent, renderInput(spec, parts))
const daemonSet = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  only<DaemonSet>(render(spec, parts), 'DaemonSet')
const podOf = (set: DaemonSet) => set.spec?.template?.spec
function agent(spec: Partial<DynaKubeSpec>, parts?: RenderParts): Container {
  const [container] = podOf(daemonSet(spec, parts))?.containers ?? []
  if (container === undefined) throw new Error('there is no container')
  return container
}
const withVersion = (version: string): RenderParts => ({
  status: { ...KNOWN_STATUS, oneAgent: { ...KNOWN_STATUS.oneAgent, version } },
})
const cloudNative = { oneAgent: { cloudNativeFullStack: {} } }
const hostMonitoring = { oneAgent: { hostMonitoring: {} } }
const classic = { oneAgent: { classicFullStack: {} } }
const proxy = { proxy: { value: 'http://proxy:3128' } }

describe('OneAgent', () => {
  it.each([
    ['cloud-native', cloudNative, {}],
    ['cloud-native-without-csi', cloudNative, { operator: { hasCsiDriver: false } }],
    ['classic', classic, {}],
    ['host-monitoring', hostMonitoring, {}],
    [
      'host-monitoring-without-csi',
      { oneAgent: { hostMonitoring: { storageHostPath: '/data/agent' } } },
      { operator: { hasCsiDriver: false } },
    ],
    [
      'former-agent',
      {
        oneAgent: { hostMonitoring: { secCompProfile: 'agent.json' } },
        proxy: { valueFrom: 'proxy' },
        activeGate: { capabilities: ['kubernetes-monitoring'], tlsSecretName: 'gateway' },
      },
      {
        flags: { 'oneagent-privileged': 'true', 'oneagent-skip-liveness-probe': 'true' },
        status: {
          ...KNOWN_STATUS,
          kubernetesClusterMEID: 'KUBERNETES_CLUSTER-1',
          kubernetesClusterName: 'prod',
          oneAgent: {
            ...KNOWN_STATUS.oneAgent,
            imageID: 'registry.example.com/oneagent:1.261.2.20220212-223432',
            version: '1.261.2.20220212-223432',
            source: 'public-registry',
            healthcheck: healthCheckOf('1.261.2.20220212-223432'),
          },
        },
      },
    ],
    [
      'everything',
      {
        ...proxy,
        networkZone: 'zone',
        trustedCAs: 'certificates',
        customPullSecret: 'pull',
        logMonitoring: {},
        activeGate: { capabilities: ['routing'] },
        oneAgent: {
          hostGroup: 'group',
          cloudNativeFullStack: {
            labels: { 'app.kubernetes.io/name': 'mine', team: 'a' },
            annotations: { 'dynatrace.com/inject': 'true' },
            args: ['--set-host-tag=a=b', '--set-host-tag=c'],
            env: [{ name: 'DT_TENANT', value: 'x' }],
            nodeSelector: { disk: 'ssd' },
            tolerations: [{ key: 'dedicated', operator: 'Exists' }],
            priorityClassName: 'high',
            dnsPolicy: 'Default',
            secCompProfile: 'agent.json',
            oneAgentResources: { limits: { memory: '1Gi' }, requests: { cpu: '200m' } },
          },
        },
      },
      { flags: { 'no-proxy': '*.dev.example', 'oneagent-max-unavailable': '5' } },
    ],
  ] as const)('%s matches its golden file', async (name, spec, parts) => {
    const objects = render(spec as unknown as Partial<DynaKubeSpec>, parts)
    await expectGolden(asYaml(objects), new URL(`../../golden/one-agent/${name}.yaml`, import.meta.url))
  })

  it('does not run on nodes for application monitoring', () => {
    expect(render({ oneAgent: { applicationMonitoring: {} } })).toEqual([])
  })

  it('renders only kinds that it may own', () => {
    const names = render(cloudNative).map(({ object }) => object.metadata.name)
    expect(names.sort()).toEqual([...ownedNames(oneAgent, renderInput(cloudNative))].sort())
  })

  it('names a version that cannot be parsed', () => {
    expect(() => render(cloudNative, withVersion('1.2'))).toThrow(InvalidAgentVersionError)
  })
})

describe('its arguments', () => {
  it('have defaults in order', () => {
    expect(agent(cloudNative).args).toEqual([
      '--set-host-id-source=k8s-node-name',
      '--set-host-property=OperatorVersion=$(DT_OPERATOR_VERSION)',
      '--set-no-proxy=',
      '--set-proxy=',
      '--set-server={$(DT_SERVER)}',
      '--set-tenant=$(DT_TENANT)',
    ])
  })

  it('can be overridden', () => {
    const args = ['--set-server=https://h:9999', '--set-host-id-source=fqdn']
    const given = agent({ oneAgent: { classicFullStack: { args } } }).args ?? []
    expect(given.filter((argument) => argument.startsWith('--set-server'))).toEqual(['--set-server=https://h:9999'])
    expect(given[0]).toBe('--set-host-id-source=fqdn')
    expect(given).toEqual([...given].sort())
  })

  it('keep each host property and tag once, the operator’s first', () => {
    const args = ['--set-host-property=prop1', '--set-host-property=prop1', '--set-host-tag=a', '--set-host-tag=b']
    const given = agent({ oneAgent: { cloudNativeFullStack: { args } } }).args ?? []
    expect(given.filter((argument) => /property|tag/.test(argument))).toEqual([
      '--set-host-property=OperatorVersion=$(DT_OPERATOR_VERSION)',
      '--set-host-property=prop1',
      '--set-host-tag=a',
      '--set-host-tag=b',
    ])
  })

  it('without a value stay without one, once', () => {
    const args = ['--flag', '--flag', '', '=nothing']
    const given = agent({ oneAgent: { cloudNativeFullStack: { args } } }).args ?? []
    expect(given.filter((argument) => !argument.startsWith('--set-'))).toEqual(['--flag'])
  })

  it('take the host group from its field', () => {
    const spec = { oneAgent: { hostGroup: 'g', cloudNativeFullStack: { args: ['--set-host-group=x'] } } }
    expect(agent(spec).args?.filter((argument) => argument.includes('group'))).toEqual(['--set-host-group=g'])
  })

  it('leave the proxy to a file', () => {
    const container = agent({ ...cloudNative, ...proxy }, withVersion('1.285.0.20240122-141707'))
    expect(container.args?.some((argument) => argument.startsWith('--set-proxy'))).toBe(false)
    expect(container.env?.some(({ name }) => name === 'https_proxy')).toBe(false)
    expect(container.volumeMounts?.map(({ name }) => name)).toContain('internal-proxy-secret-volume')
  })

  it('carry the proxy for old agents', () => {
    const container = agent({ ...cloudNative, ...proxy }, withVersion('1.261.2.20220212-223432'))
    expect(container.args).toContain('--set-proxy=$(https_proxy)')
    expect(container.env).toContainEqual({ name: 'https_proxy', value: 'http://proxy:3128' })
  })

  it.each([
    ['1.272.999.20230101-000000', true],
    ['1.273.0.20230101-000000', false],
    ['', false],
    ['custom-image', false],
  ])('carry the proxy of version %j: %s', (version, isCarried) => {
    const { args = [] } = agent({ ...cloudNative, ...proxy }, withVersion(version))
    expect(args.some((argument) => argument.startsWith('--set-proxy'))).toBe(isCarried)
  })

  it('clear a proxy that is to be ignored', () => {
    const flags = { 'oneagent-ignore-proxy': 'true', 'no-proxy': 'a' }
    const pod = podOf(daemonSet({ ...cloudNative, ...proxy }, { flags }))
    expect(pod?.containers[0]?.args).toEqual(expect.arrayContaining(['--set-proxy=', '--set-no-proxy=a']))
    const names = [...(pod?.volumes ?? []), ...(pod?.containers[0]?.volumeMounts ?? [])].map(({ name }) => name)
    expect(names).not.toContain('internal-proxy-secret-volume')
  })

  const routing = { activeGate: { capabilities: ['routing'] } }
  it.each([
    [{ ...proxy, ...routing }, { 'no-proxy': '*.dev.example' }, [], '*.dev.example,dk-activegate.dynatrace'],
    [routing, {}, [], 'dk-activegate.dynatrace'],
    [routing, {}, ['10.96.0.7', 'fd00::7'], '10.96.0.7,[fd00::7],dk-activegate.dynatrace'],
    [{ activeGate: { capabilities: ['debugging'] } }, {}, ['10.96.0.7'], '10.96.0.7'],
    [{ ...proxy, activeGate: { capabilities: ['debugging'] } }, { 'no-proxy': 'a' }, [], 'a'],
    [{}, { 'no-proxy': 'a' }, ['10.96.0.7'], ''],
  ])('of %j %j with gateways at %j name the hosts without a proxy', (more, flags, serviceIPs, hosts) => {
    const status = { ...KNOWN_STATUS, activeGate: { ...KNOWN_STATUS.activeGate, serviceIPs } }
    expect(agent({ ...cloudNative, ...more }, { flags, status }).args).toContain(`--set-no-proxy=${hosts}`)
  })
})

describe('its place on the node', () => {
  const volumes = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
    podOf(daemonSet(spec, parts))?.volumes?.map(({ name }) => name)

  it('is storage of the CSI driver, or a folder', () => {
    expect(volumes(hostMonitoring)).toContain('osagent-storage')
    expect(volumes(hostMonitoring)).not.toContain('volume-storage')
    const without = { operator: { hasCsiDriver: false } }
    expect(volumes(hostMonitoring, without)).toContain('volume-storage')
    expect(agent(hostMonitoring, without).volumeMounts).toContainEqual({
      name: 'volume-storage',
      mountPath: '/mnt/volume_storage_mount',
      subPath: 'abc12345',
    })
  })

  it('is all of it in classic full stack', () => {
    expect(volumes(classic)).toEqual(['host-root', 'dynatrace-operator', 'connection-info-secret'])
    const container = agent(classic)
    expect(container.volumeMounts).toContainEqual({ name: 'host-root', mountPath: '/mnt/root' })
    expect(container.securityContext).not.toHaveProperty('runAsUser')
  })

  it('includes the certificate of the gateway', () => {
    const spec = { ...cloudNative, activeGate: { capabilities: ['routing'] } }
    expect(volumes(spec)).toContain('active-gate-ca')
    const flags = { 'automatic-tls-certificate': 'false' }
    expect(volumes(spec, { flags })).not.toContain('active-gate-ca')
    const given = { ...cloudNative, activeGate: { capabilities: ['routing'], tlsSecretName: 'gateway' } }
    expect(volumes(given, { flags })).toContain('active-gate-ca')
  })
})

describe('its privileges', () => {
  it.each([
    ['1.290.0.20240101-000000', false],
    ['1.291.0.20240101-000000', true],
    ['', true],
    ['custom-image', true],
  ])('with version %j leave the root file system read-only: %s', (version, isReadOnly) => {
    const { securityContext } = agent(hostMonitoring, withVersion(version))
    expect(securityContext).toMatchObject({ readOnlyRootFilesystem: isReadOnly, runAsUser: 1000, runAsGroup: 1000 })
  })

  it('are all of them on request', () => {
    const spec = { oneAgent: { hostMonitoring: { secCompProfile: 'agent.json' } } }
    const { securityContext } = agent(spec, { flags: { 'oneagent-privileged': 'true' } })
    expect(securityContext).toMatchObject({ privileged: true })
    expect(securityContext).not.toHaveProperty('capabilities')
    expect(securityContext).not.toHaveProperty('seccompProfile')
  })

  it.each(['classicFullStack', 'hostMonitoring', 'cloudNativeFullStack'])(
    'follow a seccomp profile of the node in %s',
    (mode) => {
      expect(agent({ oneAgent: { [mode]: { secCompProfile: 'agent.json' } } }).securityContext).toMatchObject({
        seccompProfile: { type: 'Localhost', localhostProfile: 'agent.json' },
      })
    },
  )
})

describe('its probes', () => {
  const withStart = (seconds: number): RenderParts => ({
    status: {
      ...KNOWN_STATUS,
      oneAgent: {
        ...KNOWN_STATUS.oneAgent,
        healthcheck: { Test: ['/check'], StartPeriod: seconds * 1_000_000_000 },
      },
    },
  })

  it('come from the health check of the image', () => {
    expect(agent(cloudNative, withStart(60)).readinessProbe?.initialDelaySeconds).toBe(60)
    expect(agent(cloudNative, withStart(1200)).readinessProbe?.initialDelaySeconds).toBe(90)
    expect(agent(cloudNative, withStart(1200)).livenessProbe?.initialDelaySeconds).toBe(1200)
    const { healthcheck: _none, ...without } = KNOWN_STATUS.oneAgent ?? {}
    const container = agent(cloudNative, { status: { ...KNOWN_STATUS, oneAgent: without } })
    expect(container).not.toHaveProperty('readinessProbe')
    expect(container).not.toHaveProperty('livenessProbe')
  })

  it('can do without liveness', () => {
    const container = agent(cloudNative, { flags: { 'oneagent-skip-liveness-probe': 'true' } })
    expect(container).toHaveProperty('readinessProbe')
    expect(container).not.toHaveProperty('livenessProbe')
  })
})

describe('its tenant', () => {
  it('can be overridden by name', () => {
    const env = [
      { name: 'DT_TENANT', value: 'x' },
      { name: 'DT_TENANT', value: 'y' },
    ]
    const spec = { oneAgent: { cloudNativeFullStack: { env } } }
    expect(agent(spec).env?.filter(({ name }) => name === 'DT_TENANT')).toEqual([{ name: 'DT_TENANT', value: 'x' }])
  })

  it('knows the kubelet when logs are read', () => {
    const names = agent({ ...cloudNative, logMonitoring: {} }).env?.map(({ name }) => name)
    expect(names).toContain('KUBELET_API_ADDRESS')
    expect(names).toContain('KUBELET_API_NODENAME')
    expect(names).toEqual([...(names ?? [])].sort())
  })
})

it('a OneAgent requests CPU unless the user does', () => {
  expect(agent(cloudNative).resources).toEqual({ requests: { cpu: '100m' } })
  const resources = (oneAgentResources: object) =>
    agent({ oneAgent: { cloudNativeFullStack: { oneAgentResources } } }).resources
  expect(resources({ requests: { cpu: '1' } })).toEqual({ requests: { cpu: '1' } })
  const limits = { cpu: '2', memory: '1Gi' }
  expect(resources({ limits, requests: { memory: '1Gi' } })).toEqual({
    limits,
    requests: { cpu: '100m', memory: '1Gi' },
  })
})

it('a OneAgent names the entity of the cluster once it is known', () => {
  const [before] = podOf(daemonSet(cloudNative))?.initContainers ?? []
  expect(before?.args?.[4]?.split(',')).toHaveLength(3)
  const status = { ...KNOWN_STATUS, kubernetesClusterMEID: 'KUBERNETES_CLUSTER-1', kubernetesClusterName: 'prod' }
  const [after] = podOf(daemonSet(cloudNative, { status }))?.initContainers ?? []
  expect(after?.args?.[4]?.split(',')).toEqual([
    'k8s.cluster.name=prod',
    'k8s.cluster.uid=cluster-uid',
    'k8s.node.name=$(DT_K8S_NODE_NAME)',
    'dt.entity.kubernetes_cluster=KUBERNETES_CLUSTER-1',
  ])
})

it('a OneAgent runs where there is an image for it', () => {
  const architectures = (source: string) => {
    const status = { ...KNOWN_STATUS, oneAgent: { ...KNOWN_STATUS.oneAgent, source } }
    const terms = podOf(daemonSet(cloudNative, { status }))?.affinity?.nodeAffinity
    return terms?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]?.matchExpressions?.[0]?.values
  }
  expect(architectures('tenant-registry')).toEqual(['amd64'])
  expect(architectures('public-registry')).toEqual(['amd64', 'arm64', 'ppc64le', 's390x'])
  expect(architectures('custom-image')).toHaveLength(4)
})

describe('an upgrade of the operator', () => {
  it('restarts the agents, whose init container has its image', () => {
    const of = (image: string) => {
      const rendered = renderDynaKube(renderInput(cloudNative, { operator: { image } }))
      const objects = rendered.flatMap(({ component, objects: own }) => (component === oneAgent ? own : []))
      const { metadata, spec } = only<DaemonSet>(objects, 'DaemonSet')
      return { hash: metadata.annotations?.[ANNOTATIONS.templateHash], pod: spec?.template?.spec }
    }
    const [before, after] = [of('registry.example.com/operator:1'), of('registry.example.com/operator:2')]
    expect(after.pod?.initContainers?.[0]?.image).toBe('registry.example.com/operator:2')
    expect(after.hash).not.toBe(before.hash)
    expect(of('registry.example.com/operator:1')).toEqual(before)
    const [init] = before.pod?.initContainers ?? []
    expect({ ...after.pod, initContainers: [init] }).toEqual(before.pod)
  })
})
