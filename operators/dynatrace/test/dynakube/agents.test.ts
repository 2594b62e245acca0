/** What a running operator creates for agents. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigMaps, DaemonSets, Pods, Secrets, ServiceAccounts, StatefulSets } from '@reeve/kube'
import { controllerReference } from '@reeve/runtime/owner-references'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { runCli } from '../../src/cli/testing/run-cli.ts'
import { ANNOTATIONS } from '../../src/controllers/rendering/annotations.ts'
import { DynaKubes } from '../../src/index.ts'
import { SCHEMA_IDS } from '../../src/tenant/simulator/state/settings-schemas.ts'
import { find, inError, key, secretData, settled, WITHOUT_KEY } from './support/questions.ts'
import { NAMESPACE, type Stage, setStage } from './support/stage.ts'

const MINUTE = 60_000

let stage: Stage
beforeAll(async () => {
  stage = await setStage([
    'edited',
    'counted',
    'switched',
    'inherited',
    'forbidden',
    'ruled',
    'damaged',
    'logs',
    'posture',
    'withheld',
  ])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const hosts: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }
const agentOf = (name: string) => stage.client.get(DaemonSets, { namespace: NAMESPACE, name: `${name}-oneagent` })
const hashOf = async (name: string) => (await agentOf(name)).metadata.annotations?.[ANNOTATIONS.templateHash]
const exists = async (name: string) => (await find(stage, DaemonSets, `${name}-oneagent`)) !== undefined
/** Waits until a condition has a reason; `undefined` stands for its absence. */
const hasReason = (name: string, type: string, reason: string | undefined) =>
  stage.until(async () => (await stage.condition(name, type))?.reason === reason)

describe('the DaemonSet of agents', () => {
  it('has another hash when something that matters changes, and only then', async () => {
    await stage.create('edited', hosts)
    await stage.until(() => exists('edited'))
    const changes = [
      { image: 'registry.example.com/agent:2' },
      { args: ['--set-host-tag=a'] },
      { oneAgentResources: { requests: { cpu: '200m' } } },
      { priorityClassName: 'system-node-critical' },
      { dnsPolicy: 'Default' },
    ]
    let before = await hashOf('edited')
    for (const change of changes) {
      await stage.edit('edited', { spec: { oneAgent: { hostMonitoring: change } } })
      await stage.until(async () => (await hashOf('edited')) !== before)
      before = await hashOf('edited')
    }
    await stage.reconcile('edited')
    expect(await hashOf('edited')).toBe(before)
  })

  it('that an earlier release created for classic full-stack is deleted', async () => {
    await stage.create('inherited', { oneAgent: { classicFullStack: {} } })
    await stage.until(() => exists('inherited'))
    const owner = await stage.client.get(DynaKubes, { namespace: NAMESPACE, name: 'inherited' })
    const labels = { agent: 'old' }
    await stage.client.create(DaemonSets, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        namespace: NAMESPACE,
        name: 'inherited-classic',
        ownerReferences: [controllerReference(owner)],
      },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'agent:1' }] } },
      },
    })
    await stage.until(async () => {
      const { items } = await stage.client.list(DaemonSets, { namespace: NAMESPACE })
      return items.every(({ metadata }) => metadata.name !== 'inherited-classic')
    })
  })
})

describe('a version in the status that cannot be parsed', () => {
  it('does not change agents until the tenant provides another one', async () => {
    await stage.create('damaged', hosts)
    await hasReason('damaged', 'OneAgentDaemonSet', 'DaemonSetCreated')
    const before = await hashOf('damaged')
    const patch = { status: { oneAgent: { version: '1.2' } } }
    const failing = { kind: 'status', status: 500, tenant: 'damaged', path: 'metainfo' } as const
    const fault = stage.simulator.faults.add(failing)
    await stage.client.patch(DynaKubes, key('damaged'), { type: 'merge', patch }, { subresource: 'status' })
    await stage.reconcile('damaged')
    await hasReason('damaged', 'OneAgentDaemonSet', 'DaemonSetGenerationFailed')
    expect(await stage.condition('damaged', 'OneAgentDaemonSet')).toMatchObject({ status: 'False' })
    expect(await hashOf('damaged')).toBe(before)
    fault.remove()
    await hasReason('damaged', 'OneAgentDaemonSet', 'DaemonSetCreated')
    expect(await hashOf('damaged')).toBe(before)
  })
})

describe('a token that could not be written', () => {
  it('is not what pods are started for', async () => {
    // Owned by another controller, and so not written.
    const [agents, gateways] = ['withheld-oneagent-tenant-secret', 'withheld-activegate-tenant-secret'] as const
    for (const name of [agents, gateways]) {
      await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: key(name) })
    }
    await stage.create('withheld', { ...hosts, activeGate: { capabilities: ['routing'] } }, WITHOUT_KEY)
    await inError(stage, 'withheld')
    const concerned = [
      ['OneAgentConnectionInfo', agents],
      ['OneAgentDaemonSet', agents],
      ['ActiveGateConnectionInfo', gateways],
      ['ActiveGateStatefulSet', gateways],
    ] as const
    for (const [type, name] of concerned) {
      expect(await stage.condition('withheld', type)).toMatchObject({
        status: 'False',
        reason: 'KubeApiError',
        message: expect.stringContaining(name),
      })
    }
    expect(await exists('withheld')).toBe(false)
    expect(await find(stage, StatefulSets, 'withheld-activegate')).toBeUndefined()
    // The tenant creates no token before everything else is in place: it would create another one each time.
    expect(await find(stage, Secrets, 'withheld-activegate-authtoken-secret')).toBeUndefined()
    for (const name of [agents, gateways]) await stage.client.delete(Secrets, key(name))
    await hasReason('withheld', 'OneAgentDaemonSet', 'DaemonSetCreated')
    await hasReason('withheld', 'ActiveGateStatefulSet', 'StatefulSetCreated')
    for (const name of [agents, gateways]) expect(await secretData(stage, name)).toHaveProperty(['tenant-token'])
  })
})

describe('instances', () => {
  it('are the pods with the labels of agents, by node', async () => {
    await stage.client.create(ServiceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: NAMESPACE, name: 'dynatrace-dynakube-oneagent' },
    })
    await stage.create('counted', hosts)
    await stage.until(() => exists('counted'))
    await stage.client.create(Pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: NAMESPACE,
        name: 'stranger',
        labels: { 'app.kubernetes.io/managed-by': 'dynatrace-operator', 'app.kubernetes.io/created-by': 'counted' },
      },
      spec: { nodeName: 'node-1', containers: [{ name: 'stranger', image: 'stranger:1' }] },
    })
    const pods = async () => {
      const { items } = await stage.client.list(Pods, { namespace: NAMESPACE })
      return items.filter(({ metadata }) => metadata.name?.startsWith('counted-oneagent-'))
    }
    await stage.until(async () => {
      return (await pods()).filter(({ status }) => status?.hostIP !== undefined).length === 3
    })
    stage.advance(6 * MINUTE)
    await stage.reconcile('counted')
    await stage.until(async () => {
      return Object.keys((await stage.read('counted')).status?.oneAgent?.instances ?? {}).length === 3
    })
    const expected = (await pods()).map(({ metadata, spec, status }) => [
      spec?.nodeName,
      { podName: metadata.name, ipAddress: status?.hostIP },
    ])
    expect((await stage.read('counted')).status?.oneAgent?.instances).toEqual(Object.fromEntries(expected))
  })

  it('find facts about their node in a file, which their init container wrote', async () => {
    const { items } = await stage.client.list(Pods, { namespace: NAMESPACE })
    const pod = items.find(({ metadata }) => metadata.name.startsWith('counted-oneagent-'))
    const [init] = pod?.spec?.initContainers ?? []
    const node = pod?.spec?.nodeName ?? ''
    const folder = await mkdtemp(join(tmpdir(), 'enrichment-'))
    try {
      // What the kubelet does: it fills in the variable, and the folder is where the volume is mounted.
      const args = (init?.args ?? []).map((argument) =>
        argument.replaceAll('$(DT_K8S_NODE_NAME)', node).replace('/var/lib/dynatrace/enrichment', folder),
      )
      expect(await runCli(args)).toMatchObject({ code: 0, stderr: '' })
      const { status } = await stage.read('counted')
      expect(await readFile(join(folder, 'dt_node_metadata.properties'), 'utf8')).toBe(
        [
          `k8s.cluster.name=${status?.kubernetesClusterName ?? ''}`,
          `k8s.cluster.uid=${status?.kubeSystemUUID}`,
          `k8s.node.name=${node}`,
          '',
        ].join('\n'),
      )
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    const mount = pod?.spec?.containers[0]?.volumeMounts?.find(({ name }) => name === 'dynatrace-operator')
    expect(mount).toMatchObject({
      mountPath: '/var/lib/dynatrace/enrichment/dt_node_metadata.properties',
      subPath: 'dt_node_metadata.properties',
      readOnly: true,
    })
    expect(init?.volumeMounts).toContainEqual({
      name: 'dynatrace-operator',
      mountPath: '/var/lib/dynatrace/enrichment',
    })
  })
})

describe('agents that are switched off', () => {
  it('leave nothing but the connection, which injection needs', async () => {
    await stage.create('switched', { oneAgent: { cloudNativeFullStack: {} } })
    await stage.until(() => exists('switched'))
    await stage.edit('switched', { spec: { oneAgent: { cloudNativeFullStack: null, applicationMonitoring: {} } } })
    await stage.until(async () => !(await exists('switched')))
    await hasReason('switched', 'OneAgentDaemonSet', undefined)
    const { status } = await stage.read('switched')
    expect(status?.oneAgent?.instances).toBeUndefined()
    expect(status?.oneAgent?.connectionInfoStatus?.tenantUUID).toBe('switched')
    const [configMaps, secrets] = await Promise.all([
      stage.client.list(ConfigMaps, { namespace: NAMESPACE }),
      stage.client.list(Secrets, { namespace: NAMESPACE }),
    ])
    const names = [...configMaps.items, ...secrets.items].map(({ metadata }) => metadata.name)
    expect(names.filter((name) => name.startsWith('switched-')).sort()).toEqual([
      'switched-bootstrapper-certs',
      'switched-bootstrapper-config',
      'switched-oneagent-tenant-secret',
      'switched-tokens',
    ])
  })
})

describe('log agents', () => {
  it('exist only without a OneAgent', async () => {
    const imageRef = { repository: 'registry.example.com/logs', tag: '1' }
    await stage.create('logs', { logMonitoring: {}, templates: { logMonitoring: { imageRef } } })
    await hasReason('logs', 'LogMonitoringDaemonSet', 'DaemonSetCreated')
    await hasReason('logs', 'LogMonitoringConfig', 'SecretCreated')
    expect(await find(stage, DaemonSets, 'logs-logmonitoring')).toBeDefined()
    expect(await secretData(stage, 'logs-logmonitoring-config')).toHaveProperty(['deployment.conf'])
    await stage.edit('logs', { spec: hosts })
    await hasReason('logs', 'LogMonitoringDaemonSet', undefined)
    await hasReason('logs', 'LogMonitoringConfig', undefined)
    expect(await find(stage, DaemonSets, 'logs-logmonitoring')).toBeUndefined()
    expect(await find(stage, Secrets, 'logs-logmonitoring-config')).toBeUndefined()
    const { env = [] } = (await agentOf('logs')).spec?.template?.spec?.containers[0] ?? {}
    expect(env.map(({ name }) => name)).toEqual(expect.arrayContaining(['KUBELET_API_ADDRESS', 'KUBELET_API_NODENAME']))
  })
})

describe('collectors of node configurations', () => {
  const collector = () => find(stage, DaemonSets, 'posture-node-config-collector')
  const hashes = async () => {
    const sets = [await collector(), await find(stage, StatefulSets, 'posture-activegate')]
    return sets.map((set) => set?.spec?.template?.metadata?.annotations?.[ANNOTATIONS.kspmTokenSecret])
  }

  it('share a token with the gateway that is never replaced', async () => {
    const kspmNodeConfigurationCollector = {
      imageRef: { repository: 'registry.example.com/ncc', tag: '1' },
      env: [{ name: 'KUBERNETES_NODE_ROOT', value: '/mine' }],
    }
    const spec = {
      activeGate: { capabilities: ['kubernetes-monitoring'] },
      kspm: { mappedHostPaths: ['/etc'] },
      templates: { kspmNodeConfigurationCollector },
    }
    await stage.create('posture', spec, WITHOUT_KEY)
    await settled(stage, 'posture')
    const token = await secretData(stage, 'posture-kspm-token')
    expect(token?.['kspm-token']).toMatch(/^dt0n01\.[A-Z2-7]{24}\.[A-Z2-7]{64}$/)
    const before = await hashes()
    expect(new Set(before).size).toBe(1)
    expect(before[0]).toBe((await stage.read('posture')).status?.kspm?.tokenSecretHash)
    expect(before[0]).toMatch(/^\d+$/)
    await stage.reconcile('posture')
    await stage.reconcile('posture')
    expect(await secretData(stage, 'posture-kspm-token')).toEqual(token)
    expect(await hashes()).toEqual(before)
  })

  it('are stored as they are replaced, and with variables of the user', async () => {
    const { updateStrategy, template } = (await collector())?.spec ?? {}
    expect(updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } })
    const { env = [] } = template?.spec?.containers[0] ?? {}
    expect(env.filter(({ name }) => name === 'KUBERNETES_NODE_ROOT')).toEqual([
      { name: 'KUBERNETES_NODE_ROOT', value: '/mine' },
    ])
  })

  it('leave no trace when they are switched off', async () => {
    await stage.edit('posture', { spec: { kspm: null } })
    await hasReason('posture', 'NodeConfigCollectorDaemonSet', undefined)
    await hasReason('posture', 'KSPMTokenSecret', undefined)
    expect(await collector()).toBeUndefined()
    expect(await find(stage, Secrets, 'posture-kspm-token')).toBeUndefined()
    expect((await stage.read('posture')).status?.kspm).toBeUndefined()
  })
})

describe('the rule for logs', () => {
  const created = (tenant: string) =>
    stage.simulator
      .calls()
      .filter((call) => call.tenant === tenant && call.operation.startsWith('settings'))
      .map(({ operation }) => operation)

  it('is not requested without the scopes', async () => {
    const scopes = ['InstallerDownload', 'DataExport']
    stage.simulator.tenant('forbidden').tokens.setScopes('apiToken', scopes)
    await stage.create('forbidden', { logMonitoring: {}, ...hosts })
    await hasReason('forbidden', 'LogMonitoringSettings', 'ScopeMissing')
    expect(created('forbidden')).toEqual([])
  })

  it('is created once, and not again when it exists', async () => {
    const rules = () => {
      const all = stage.simulator.tenant('ruled').settings.list()
      return all.filter(({ schemaId }) => schemaId === SCHEMA_IDS.logStorage).map(({ objectId }) => objectId)
    }
    const spec = { ...hosts, logMonitoring: {}, activeGate: { capabilities: ['kubernetes-monitoring'] } }
    await stage.create('ruled', spec, WITHOUT_KEY)
    await hasReason('ruled', 'LogMonitoringSettings', 'Created')
    const made = rules()
    expect(made).toHaveLength(1)
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'ruled' })
    await stage.until(async () => !(await exists('ruled')))
    await stage.create('ruled', spec, WITHOUT_KEY)
    await hasReason('ruled', 'LogMonitoringSettings', 'AlreadyExist')
    expect(rules()).toEqual(made)
  })
})
