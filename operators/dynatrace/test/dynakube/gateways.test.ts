/** What a running operator creates for gateways, extensions and collectors. */
import {
  ConfigMaps,
  Deployments,
  type KubeObject,
  type Resource,
  Secrets,
  Services,
  StatefulSets,
  type Stored,
} from '@reeve/kube'
import { controllerReference } from '@reeve/runtime/owner-references'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { ANNOTATIONS } from '../../src/controllers/rendering/annotations.ts'
import { rawHash } from '../../src/controllers/rendering/hashes.ts'
import { decodeSecret, encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { DynaKubes } from '../../src/index.ts'
import { NAMESPACE, type Stage, setStage } from './support/stage.ts'

let stage: Stage
beforeAll(async () => {
  const tenants = [
    'volatile',
    'meddled',
    'legacy',
    'left',
    'queried',
    'renamed',
    'keyless',
    'retokened',
    'tokenless',
    'rotating',
    'scaled',
  ]
  stage = await setStage(tenants)
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const image = (name: string) => ({ repository: `registry.example.com/${name}`, tag: '1.2.3' })
const templates: DynaKubeSpec['templates'] = {
  otelCollector: { imageRef: image('otelc') },
  extensionExecutionController: { imageRef: image('eec') },
  sqlExtensionExecutor: { imageRef: image('sql') },
}
const gateway = { capabilities: ['routing'] }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const get = <T extends KubeObject>(resource: Resource<T>, name: string): Promise<Stored<T>> =>
  stage.client.get(resource, { namespace: NAMESPACE, name })
const exists = async (resource: Resource, name: string): Promise<boolean> =>
  (await stage.client.list(resource, { namespace: NAMESPACE })).items.some(({ metadata }) => metadata.name === name)
const appears = (resource: Resource, name: string) => stage.until(() => exists(resource, name))
const disappears = (resource: Resource, name: string) => stage.until(async () => !(await exists(resource, name)))
const secret = async (name: string) => decodeSecret((await get(Secrets, name)).data)

describe('gateways', () => {
  it('are changed in place when only their scratch volume changes', async () => {
    await stage.create('volatile', { activeGate: gateway })
    await appears(StatefulSets, 'volatile-activegate')
    const before = await get(StatefulSets, 'volatile-activegate')
    expect(before.spec?.template?.spec?.securityContext?.fsGroup).toBe(1001)
    await stage.edit('volatile', { spec: { activeGate: { useEphemeralVolume: true } } })
    await stage.until(async () => {
      const { metadata, spec } = await get(StatefulSets, 'volatile-activegate')
      expect(metadata.uid).toBe(before.metadata.uid)
      return spec?.template?.spec?.securityContext?.fsGroup === undefined
    })
  })

  it('get their Service back unchanged, with its address', async () => {
    await stage.create('meddled', { activeGate: gateway })
    await appears(StatefulSets, 'meddled-activegate')
    const before = await get(Services, 'meddled-activegate')
    expect(before.metadata.annotations ?? {}).not.toHaveProperty(ANNOTATIONS.templateHash)
    await stage.client.patch(
      Services,
      { namespace: NAMESPACE, name: 'meddled-activegate' },
      {
        type: 'merge',
        patch: {
          metadata: { labels: { 'app.kubernetes.io/name': 'mine' } },
          spec: { ports: [{ name: 'mine', port: 1 }], selector: { 'app.kubernetes.io/name': 'mine' } },
        },
      },
    )
    await stage.until(async () => {
      const { spec } = await get(Services, 'meddled-activegate')
      return spec?.ports?.length === before.spec?.ports?.length
    })
    const after = await get(Services, 'meddled-activegate')
    expect(after.spec).toEqual(before.spec)
    expect(after.metadata.labels).toEqual(before.metadata.labels)
  })

  it('get a port back after a manual change of its number', async () => {
    const key = { namespace: NAMESPACE, name: 'meddled-activegate' }
    const before = await get(Services, key.name)
    const patch = [{ op: 'replace' as const, path: '/spec/ports/0/port', value: 8443 }]
    await stage.client.patch(Services, key, { type: 'json', patch })
    await stage.until(async () => {
      const { spec } = await get(Services, key.name)
      return spec?.ports?.every(({ port }) => port !== 8443) ?? false
    })
    expect((await get(Services, key.name)).spec).toEqual(before.spec)
  })

  it('say which key of their custom properties is missing', async () => {
    const valueFrom = 'properties'
    await stage.create('keyless', { activeGate: { ...gateway, customProperties: { valueFrom } } })
    await stage.until(async () => (await stage.read('keyless')).status?.phase === 'Error')
    expect(await exists(StatefulSets, 'keyless-activegate')).toBe(false)
    expect(await stage.condition('keyless', 'ActiveGateStatefulSet')).toBeUndefined()

    const metadata = { namespace: NAMESPACE, name: valueFrom }
    await stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: encodeSecret({ other: '' }),
    })
    await stage.until(async () => {
      return (await stage.condition('keyless', 'ActiveGateStatefulSet'))?.reason === 'KubeApiError'
    })
    const { message } = (await stage.condition('keyless', 'ActiveGateStatefulSet')) ?? {}
    expect(message).toContain('customProperties')
    expect(await exists(StatefulSets, 'keyless-activegate')).toBe(false)
    expect(await exists(Services, 'keyless-activegate')).toBe(true)
    expect(await exists(Secrets, 'keyless-activegate-tls-secret')).toBe(true)

    const customProperties = '[a]\nb=c\n'
    const data = encodeSecret({ customProperties })
    await stage.client.patch(Secrets, metadata, { type: 'merge', patch: { data } })
    await appears(StatefulSets, 'keyless-activegate')
    expect(await secret('keyless-activegate-custom-properties')).toEqual({ customProperties })
    const { 'auth-token': token } = await secret('keyless-activegate-authtoken-secret')
    const { spec } = await get(StatefulSets, 'keyless-activegate')
    expect(spec?.template?.metadata?.annotations?.[ANNOTATIONS.activeGateConfiguration]).toBe(
      rawHash(`${customProperties.trim()}${token}`),
    )
  })
})

describe('extensions', () => {
  const extensions = { prometheus: {} }

  it('get new tokens when theirs are of an earlier release, and then keep them', async () => {
    const key = { namespace: NAMESPACE, name: 'legacy-extensions-token' }
    await stage.create('legacy', { extensions, templates })
    await appears(Secrets, key.name)
    await stage.until(async () => {
      return (await stage.condition('legacy', 'ExtensionsSecret'))?.status === 'True'
    })
    const first = await secret(key.name)
    const former = encodeSecret({ 'eec.token': 'EEC dt0x01.old', 'otelc.token': 'dt0x01.old' })
    const patch = { data: { ...former, 'datasource.token': null } }
    await stage.client.patch(Secrets, key, { type: 'merge', patch }, { fieldManager: 'dynatrace-operator' })
    await stage.until(async () => (await secret(key.name))['datasource.token'] !== undefined)
    const tokens = await secret(key.name)
    expect(Object.keys(tokens).sort()).toEqual(['datasource.token', 'eec.token'])
    expect(tokens['eec.token']).toMatch(/^EEC dt0x01\.[A-Z2-7]{24}\.[A-Z2-7]{64}$/)
    expect(tokens['datasource.token']).toMatch(/^dt0x01\.[A-Z2-7]{24}\.[A-Z2-7]{64}$/)
    expect(Object.values(first)).not.toContain(tokens['datasource.token'])
    await stage.reconcile('legacy')
    expect(await secret(key.name)).toEqual(tokens)
  })

  it('lose what an earlier release called differently', async () => {
    await stage.create('left', { extensions, templates })
    await appears(StatefulSets, 'left-extension-controller')
    const owner = await get(DynaKubes, 'left')
    const name = 'left-extensions-controller'
    const metadata = { namespace: NAMESPACE, name, ownerReferences: [controllerReference(owner)] }
    const labels = { app: 'old' }
    const pod = { metadata: { labels }, spec: { containers: [{ name: 'old', image: 'old:1' }] } }
    const spec = { serviceName: name, selector: { matchLabels: labels }, template: pod }
    await stage.client.create(StatefulSets, { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec })
    await stage.client.create(Services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ port: 1 }] },
    })
    const tls = { ...metadata, name: `${name}-tls` }
    await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: tls })
    await disappears(StatefulSets, name)
    await disappears(Services, name)
    await disappears(Secrets, tls.name)
    expect(await exists(StatefulSets, 'left-extension-controller')).toBe(true)
  })

  it('that are switched off leave neither objects nor conditions', async () => {
    await stage.edit('left', { spec: { extensions: null } })
    await disappears(StatefulSets, 'left-extension-controller')
    await disappears(Services, 'left-extension-controller')
    await disappears(Secrets, 'left-extension-controller-tls')
    await disappears(Secrets, 'left-extensions-token')
    await stage.until(async () => {
      const { conditions = [] } = (await stage.read('left')).status ?? {}
      return !conditions.some(({ type }) => /^(Extension|Otel|ActiveGate)/.test(type ?? ''))
    })
  })

  it('replace the executor of a database whose id changes', async () => {
    await stage.create('queried', { extensions: { databases: [{ id: 'one' }] }, templates })
    await appears(Deployments, 'queried-sql-ext-exec-one')
    await stage.edit('queried', { spec: { extensions: { databases: [{ id: 'two' }] } } })
    await appears(Deployments, 'queried-sql-ext-exec-two')
    await disappears(Deployments, 'queried-sql-ext-exec-one')
    expect(await stage.condition('queried', 'DatabaseDatasourcesAvailable')).toMatchObject({ status: 'True' })
    await stage.edit('queried', { spec: { extensions: { databases: null, prometheus: {} } } })
    await disappears(Deployments, 'queried-sql-ext-exec-two')
    await stage.until(async () => {
      return (await stage.condition('queried', 'DatabaseDatasourcesAvailable')) === undefined
    })
  })

  it('keep their pods when tokens are lost and created again', async () => {
    await stage.create('retokened', { extensions: { databases: [{ id: 'one' }] }, templates })
    await appears(Deployments, 'retokened-sql-ext-exec-one')
    await appears(StatefulSets, 'retokened-extension-controller')
    const templatesOf = async () => [
      (await get(StatefulSets, 'retokened-extension-controller')).spec?.template,
      (await get(Deployments, 'retokened-sql-ext-exec-one')).spec?.template,
    ]
    await stage.reconcile('retokened')
    const before = await templatesOf()
    const token = await secret('retokened-extensions-token')
    await stage.client.delete(Secrets, { namespace: NAMESPACE, name: 'retokened-extensions-token' })
    await appears(Secrets, 'retokened-extensions-token')
    expect(await secret('retokened-extensions-token')).not.toEqual(token)
    await stage.reconcile('retokened')
    expect(await templatesOf()).toEqual(before)
  })

  it('keep the number of executors that an autoscaler has set', async () => {
    const key = { namespace: NAMESPACE, name: 'retokened-sql-ext-exec-one' }
    expect((await get(Deployments, key.name)).spec?.replicas).toBe(1)
    await stage.client.patch(Deployments, key, { type: 'merge', patch: { spec: { replicas: 2 } } })
    await stage.reconcile('retokened')
    await stage.reconcile('retokened')
    expect((await get(Deployments, key.name)).spec?.replicas).toBe(2)
  })
})

describe('the collector', () => {
  it('waits for the token with which it sends; the condition of tokens reports it', async () => {
    const metadata = { namespace: NAMESPACE, name: 'half' }
    const { tokens } = stage.simulator.tenant('tokenless')
    const apiToken = tokens.get('apiToken')?.value ?? ''
    await stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: encodeSecret({ apiToken, dataIngestToken: '' }),
    })
    await stage.create('tokenless', { telemetryIngest: {}, templates, tokens: 'half' })
    await appears(Services, 'tokenless-telemetry-ingest')
    await stage.until(async () => {
      return (await stage.condition('tokenless', 'Tokens'))?.reason === 'DataIngestTokenMissing'
    })
    expect(await stage.condition('tokenless', 'Tokens')).toMatchObject({
      status: 'False',
      message: 'the Secret dynatrace/half has no dataIngestToken, which spec.telemetryIngest needs; add one',
    })
    expect((await stage.read('tokenless')).status?.phase).not.toBe('Error')
    await stage.until(async () => (await stage.reconcile('tokenless')).writes.length === 0)
    expect(await exists(StatefulSets, 'tokenless-otel-collector')).toBe(false)

    const data = encodeSecret({ dataIngestToken: tokens.get('dataIngestToken')?.value ?? '' })
    await stage.client.patch(Secrets, metadata, { type: 'merge', patch: { data } })
    await appears(StatefulSets, 'tokenless-otel-collector')
    await stage.until(async () => {
      return (await stage.condition('tokenless', 'Tokens'))?.reason === 'TokenReady'
    })
    // There never was a gateway.
    const { status } = await stage.read('tokenless')
    expect(status?.conditions?.map(({ type }) => type).filter((type) => type.startsWith('ActiveGate'))).toEqual([])
    const calls = stage.simulator.calls().filter(({ tenant }) => tenant === 'tokenless')
    expect(calls.filter(({ operation }) => operation?.includes('gate'))).toEqual([])
  })

  it('sends to one tenant only: a second DynaKube says who is in its way', async () => {
    await stage.create('renamed', { telemetryIngest: {}, templates })
    await stage.until(async () => {
      return (await stage.condition('renamed', 'OtelpApiEndpointConfigMap'))?.status === 'False'
    })
    expect(await stage.condition('renamed', 'OtelpApiEndpointConfigMap')).toMatchObject({
      reason: 'KubeApiError',
      message: expect.stringContaining('tokenless'),
    })
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'tokenless' })
    await disappears(ConfigMaps, 'dynatrace-otlp-api-endpoint')
    await stage.reconcile('renamed')
    await appears(StatefulSets, 'renamed-otel-collector')
  })

  it('is reached by the Service that the user names, and no other', async () => {
    await appears(Services, 'renamed-telemetry-ingest')
    await stage.edit('renamed', { spec: { telemetryIngest: { serviceName: 'mine' } } })
    await appears(Services, 'mine')
    await disappears(Services, 'renamed-telemetry-ingest')
    await stage.edit('renamed', { spec: { telemetryIngest: { serviceName: null } } })
    await appears(Services, 'renamed-telemetry-ingest')
    await disappears(Services, 'mine')
  })

  it('reports which certificate is missing, and continues when it exists', async () => {
    await stage.edit('renamed', { spec: { telemetryIngest: { tlsRefName: 'later' } } })
    await stage.until(async () => {
      return (await stage.condition('renamed', 'OtelStatefulSet'))?.status === 'False'
    })
    expect((await stage.read('renamed')).status?.phase).toBe('Error')
    expect(await stage.condition('renamed', 'OtelStatefulSet')).toMatchObject({
      status: 'False',
      reason: 'KubeApiError',
      message: 'spec.telemetryIngest.tlsRefName: the Secret dynatrace/later does not exist; create it',
    })
    await stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name: 'later' },
      data: encodeSecret({ 'tls.crt': 'certificate', 'tls.key': 'key' }),
    })
    await stage.until(async () => (await stage.condition('renamed', 'OtelStatefulSet'))?.status === 'True')
    const { spec } = await get(StatefulSets, 'renamed-otel-collector')
    expect(spec?.template?.metadata?.annotations).toHaveProperty([ANNOTATIONS.telemetrySecret])
  })
})

it('gateways restart with the token that replaces an old one, and no earlier one is requested', async () => {
  await stage.create('rotating', { activeGate: gateway })
  await appears(StatefulSets, 'rotating-activegate')
  const issued = () => stage.simulator.tenant('rotating').activeGateTokens.list().length
  const hash = async () => {
    const { spec } = await get(StatefulSets, 'rotating-activegate')
    return spec?.template?.metadata?.annotations?.[ANNOTATIONS.activeGateConfiguration]
  }
  await stage.reconcile('rotating')
  const [before, first] = [await hash(), issued()]
  stage.advance(29 * DAY_MS - HOUR_MS)
  await stage.reconcile('rotating')
  expect(issued()).toBe(first)
  expect(await hash()).toBe(before)
  stage.advance(2 * HOUR_MS)
  await stage.reconcile('rotating')
  await stage.until(async () => (await hash()) !== before)
  expect(issued()).toBeGreaterThan(first)
})

describe('an autoscaler', () => {
  const replicasOf = async (name: string) => {
    const { items } = await stage.client.list(StatefulSets, { namespace: NAMESPACE })
    return items.find(({ metadata }) => metadata.name === name)?.spec?.replicas
  }

  it('decides how many gateways and collectors run, while the DynaKube does not', async () => {
    await stage.create('scaled', { activeGate: gateway, extensions: { prometheus: {} }, templates })
    const sets = ['scaled-activegate', 'scaled-otel-collector']
    for (const name of sets) await stage.until(async () => (await replicasOf(name)) === 1)
    for (const name of sets) {
      await stage.client.patch(
        StatefulSets,
        { namespace: NAMESPACE, name },
        { type: 'merge', patch: { spec: { replicas: 3 } } },
      )
    }
    await stage.reconcile('scaled')
    expect(await Promise.all(sets.map(replicasOf))).toEqual([3, 3])
    await stage.edit('scaled', { spec: { activeGate: { replicas: 2 } } })
    await stage.until(async () => (await replicasOf('scaled-activegate')) === 2)
    expect(await replicasOf('scaled-otel-collector')).toBe(3)
  })
})
