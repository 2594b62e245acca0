/** What a running operator makes of agents, by the observable checks of their specification. */
import { ConfigMaps, DaemonSets, Pods, ServiceAccounts } from '@reeve/kube'
import { controllerReference } from '@reeve/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { ANNOTATIONS } from '../../src/controllers/annotations.ts'
import { SCHEMA_IDS } from '../../src/environment/simulator/tenant/settings-schemas.ts'
import { DynaKubes } from '../../src/index.ts'
import { NAMESPACE, type Stage, setStage } from './support/stage.ts'

const MINUTE = 60_000

let stage: Stage
beforeAll(async () => {
  stage = await setStage(['edited', 'counted', 'switched', 'inherited', 'forbidden', 'ruled'])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const hosts: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }
const agentOf = (name: string) => stage.client.get(DaemonSets, { namespace: NAMESPACE, name: `${name}-oneagent` })
const hashOf = async (name: string) => (await agentOf(name)).metadata.annotations?.[ANNOTATIONS.templateHash]
const exists = (name: string) =>
  agentOf(name).then(
    () => true,
    () => false,
  )

describe('the DaemonSet of agents', () => {
  it('has another hash when something that matters changes, and only then (agents 23)', async () => {
    await stage.create('edited', hosts)
    await stage.until('agents', () => exists('edited'))
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
      await stage.until(`a rollout after ${Object.keys(change)}`, async () => (await hashOf('edited')) !== before)
      before = await hashOf('edited')
    }
    await stage.look('edited')
    expect(await hashOf('edited')).toBe(before)
  })

  it('that an earlier release made for classic full-stack goes (agents 28)', async () => {
    await stage.create('inherited', { oneAgent: { classicFullStack: {} } })
    await stage.until('agents', () => exists('inherited'))
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
    await stage.until('the old one is gone', async () => {
      const { items } = await stage.client.list(DaemonSets, { namespace: NAMESPACE })
      return items.every(({ metadata }) => metadata.name !== 'inherited-classic')
    })
  })
})

describe('instances', () => {
  it('are the pods with the labels of agents, by node (agents 24)', async () => {
    await stage.client.create(ServiceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: NAMESPACE, name: 'dynatrace-dynakube-oneagent' },
    })
    await stage.create('counted', hosts)
    await stage.until('agents', () => exists('counted'))
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
    await stage.until('a pod on each node', async () => {
      return (await pods()).filter(({ status }) => status?.hostIP !== undefined).length === 3
    })
    stage.pass(6 * MINUTE)
    await stage.look('counted')
    await stage.until('all instances', async () => {
      return Object.keys((await stage.read('counted')).status?.oneAgent?.instances ?? {}).length === 3
    })
    const expected = (await pods()).map(({ metadata, spec, status }) => [
      spec?.nodeName,
      { podName: metadata.name, ipAddress: status?.hostIP },
    ])
    expect((await stage.read('counted')).status?.oneAgent?.instances).toEqual(Object.fromEntries(expected))
  })
})

describe('agents that are switched off', () => {
  it('leave nothing but the connection, which injection needs (agents 25)', async () => {
    await stage.create('switched', { oneAgent: { cloudNativeFullStack: {} } })
    await stage.until('agents', () => exists('switched'))
    await stage.edit('switched', { spec: { oneAgent: { cloudNativeFullStack: null, applicationMonitoring: {} } } })
    await stage.until('no agents', async () => !(await exists('switched')))
    await stage.until(
      'no condition',
      async () => (await stage.condition('switched', 'OneAgentDaemonSet')) === undefined,
    )
    const { status } = await stage.read('switched')
    expect(status?.oneAgent?.instances).toBeUndefined()
    expect(status?.oneAgent?.connectionInfoStatus?.tenantUUID).toBe('switched')
    const { items } = await stage.client.list(ConfigMaps, { namespace: NAMESPACE })
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('switched-oneagent-connection-info')
  })
})

describe('the rule for logs (agents 37)', () => {
  const created = (tenant: string) =>
    stage.environment
      .calls()
      .filter((call) => call.tenant === tenant && call.operation.startsWith('settings'))
      .map(({ operation }) => operation)

  it('is not asked for without the scopes', async () => {
    const scopes = ['InstallerDownload', 'DataExport']
    stage.environment.tenant('forbidden').tokens.setScopes('apiToken', scopes)
    await stage.create('forbidden', { logMonitoring: {}, ...hosts })
    await stage.until(
      'the condition',
      async () => (await stage.condition('forbidden', 'LogMonitoringSettings'))?.reason === 'ScopeMissing',
    )
    expect(created('forbidden')).toEqual([])
  })

  it('is created once, and not again when it is there', async () => {
    const rules = () => {
      const all = stage.environment.tenant('ruled').settings.list()
      return all.filter(({ schemaId }) => schemaId === SCHEMA_IDS.logStorage).map(({ objectId }) => objectId)
    }
    const isTold = (reason: string) => async () =>
      (await stage.condition('ruled', 'LogMonitoringSettings'))?.reason === reason
    const spec = { ...hosts, logMonitoring: {}, activeGate: { capabilities: ['kubernetes-monitoring'] } }
    await stage.create('ruled', spec)
    await stage.until('the rule', isTold('Created'))
    const made = rules()
    expect(made).toHaveLength(1)
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'ruled' })
    await stage.until('no agents', async () => !(await exists('ruled')))
    await stage.create('ruled', spec)
    await stage.until('that it is there', isTold('AlreadyExist'))
    expect(rules()).toEqual(made)
  })
})
