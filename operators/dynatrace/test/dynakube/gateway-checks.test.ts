/** What a running operator makes of gateways, extensions and collectors, by the observable checks. */
import { Deployments, type KubeObject, type Resource, Secrets, Services, StatefulSets, type Stored } from '@reeve/kube'
import { controllerReference } from '@reeve/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { decodeSecret, encodeSecret } from '../../src/controllers/secret-data.ts'
import { DynaKubes } from '../../src/index.ts'
import { NAMESPACE, type Stage, setStage } from './support/stage.ts'

let stage: Stage
beforeAll(async () => {
  const tenants = ['volatile', 'meddled', 'legacy', 'left', 'queried', 'renamed', 'keyless', 'retokened']
  // Making keys would take most of the time.
  const selfSigned = async () => ({ certificate: stage.environment.caCertificate, privateKey: 'key' })
  stage = await setStage(tenants, { selfSigned })
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const image = (name: string) => ({ repository: `registry.example.com/${name}`, tag: '1.2.3' })
const templates: DynaKubeSpec['templates'] = {
  otelCollector: { imageRef: image('otelc') },
  extensionExecutionController: { imageRef: image('eec') },
  sqlExtensionExecutor: { imageRef: image('sql') },
}
const gateway = { capabilities: ['routing'] }

const get = <T extends KubeObject>(resource: Resource<T>, name: string): Promise<Stored<T>> =>
  stage.client.get(resource, { namespace: NAMESPACE, name })
const exists = async (resource: Resource, name: string): Promise<boolean> =>
  (await stage.client.list(resource, { namespace: NAMESPACE })).items.some(({ metadata }) => metadata.name === name)
const appears = (resource: Resource, name: string) => stage.until(name, () => exists(resource, name))
const disappears = (resource: Resource, name: string) =>
  stage.until(`no ${name}`, async () => !(await exists(resource, name)))
const secret = async (name: string) => decodeSecret((await get(Secrets, name)).data)

describe('gateways', () => {
  it('are changed in place when only their scratch volume changes (gateway 10)', async () => {
    await stage.create('volatile', { activeGate: gateway })
    await appears(StatefulSets, 'volatile-activegate')
    const before = await get(StatefulSets, 'volatile-activegate')
    await stage.edit('volatile', { spec: { activeGate: { useEphemeralVolume: true } } })
    await stage.look('volatile')
    await stage.look('volatile')
    expect((await get(StatefulSets, 'volatile-activegate')).metadata.uid).toBe(before.metadata.uid)
  })

  it('get their Service back as it was, with its address (gateway 19)', async () => {
    await stage.create('meddled', { activeGate: gateway })
    await appears(StatefulSets, 'meddled-activegate')
    const before = await get(Services, 'meddled-activegate')
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
    await stage.until('it is restored', async () => {
      const { spec } = await get(Services, 'meddled-activegate')
      return spec?.ports?.length === before.spec?.ports?.length
    })
    const after = await get(Services, 'meddled-activegate')
    expect(after.spec).toEqual(before.spec)
    expect(after.metadata.labels).toEqual(before.metadata.labels)
  })

  it('get a port back that somebody gave another number (gateway 19)', async () => {
    const key = { namespace: NAMESPACE, name: 'meddled-activegate' }
    const before = await get(Services, key.name)
    const patch = [{ op: 'replace' as const, path: '/spec/ports/0/port', value: 8443 }]
    await stage.client.patch(Services, key, { type: 'json', patch })
    await stage.until('it is restored', async () => {
      const { spec } = await get(Services, key.name)
      return spec?.ports?.every(({ port }) => port !== 8443) ?? false
    })
    expect((await get(Services, key.name)).spec).toEqual(before.spec)
  })

  it('say which key of their custom properties is missing (gateway 52)', async () => {
    const valueFrom = 'properties'
    await stage.create('keyless', { activeGate: { ...gateway, customProperties: { valueFrom } } })
    await stage.until('an error', async () => (await stage.read('keyless')).status?.phase === 'Error')
    expect(await exists(StatefulSets, 'keyless-activegate')).toBe(false)
    expect(await stage.condition('keyless', 'ActiveGateStatefulSet')).toBeUndefined()

    const metadata = { namespace: NAMESPACE, name: valueFrom }
    await stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: encodeSecret({ other: '' }),
    })
    await stage.until('the condition', async () => {
      return (await stage.condition('keyless', 'ActiveGateStatefulSet'))?.reason === 'KubeApiError'
    })
    const { message } = (await stage.condition('keyless', 'ActiveGateStatefulSet')) ?? {}
    expect(message).toContain('customProperties')
    expect(await exists(StatefulSets, 'keyless-activegate')).toBe(false)

    const data = encodeSecret({ customProperties: '[a]\nb=c' })
    await stage.client.patch(Secrets, metadata, { type: 'merge', patch: { data } })
    await appears(StatefulSets, 'keyless-activegate')
  })
})

describe('extensions', () => {
  const extensions = { prometheus: {} }

  it('get new tokens when theirs are of an earlier release (gateway 26)', async () => {
    const metadata = { namespace: NAMESPACE, name: 'legacy-extensions-token' }
    await stage.create('legacy', { extensions, templates })
    await appears(Secrets, metadata.name)
    await stage.until('the condition', async () => {
      return (await stage.condition('legacy', 'ExtensionsSecret'))?.status === 'True'
    })
    const owner = await get(DynaKubes, 'legacy')
    await stage.client.delete(Secrets, metadata)
    await stage.client
      .create(
        Secrets,
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { ...metadata, ownerReferences: [controllerReference(owner)] },
          data: encodeSecret({ 'eec.token': 'EEC dt0x01.old', 'otelc.token': 'dt0x01.old' }),
        },
        { fieldManager: 'dynatrace-operator' },
      )
      .catch(() => undefined)
    await stage.until('new tokens', async () => (await secret(metadata.name))['datasource.token'] !== undefined)
    await stage.until('only those', async () => (await secret(metadata.name))['otelc.token'] === undefined)
    const { 'eec.token': controller } = await secret(metadata.name)
    expect(controller).toMatch(/^EEC dt0x01\.[A-Z2-7]{24}\.[A-Z2-7]{64}$/)
  })

  it('lose what an earlier release called differently (gateway 31)', async () => {
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

  it('replace the executor of a database whose id changes (gateway 36)', async () => {
    await stage.create('queried', { extensions: { databases: [{ id: 'one' }] }, templates })
    await appears(Deployments, 'queried-sql-ext-exec-one')
    await stage.edit('queried', { spec: { extensions: { databases: [{ id: 'two' }] } } })
    await appears(Deployments, 'queried-sql-ext-exec-two')
    await disappears(Deployments, 'queried-sql-ext-exec-one')
    expect(await stage.condition('queried', 'DatabaseDatasourcesAvailable')).toMatchObject({ status: 'True' })
    await stage.edit('queried', { spec: { extensions: { databases: null, prometheus: {} } } })
    await disappears(Deployments, 'queried-sql-ext-exec-two')
    await stage.until('no condition', async () => {
      return (await stage.condition('queried', 'DatabaseDatasourcesAvailable')) === undefined
    })
  })

  it('keep their pods when tokens were lost and made anew (gateway 53)', async () => {
    await stage.create('retokened', { extensions: { databases: [{ id: 'one' }] }, templates })
    await appears(Deployments, 'retokened-sql-ext-exec-one')
    await appears(StatefulSets, 'retokened-extension-controller')
    const templatesOf = async () => [
      (await get(StatefulSets, 'retokened-extension-controller')).spec?.template,
      (await get(Deployments, 'retokened-sql-ext-exec-one')).spec?.template,
    ]
    await stage.look('retokened')
    const before = await templatesOf()
    const token = await secret('retokened-extensions-token')
    await stage.client.delete(Secrets, { namespace: NAMESPACE, name: 'retokened-extensions-token' })
    await appears(Secrets, 'retokened-extensions-token')
    expect(await secret('retokened-extensions-token')).not.toEqual(token)
    await stage.look('retokened')
    expect(await templatesOf()).toEqual(before)
  })
})

describe('the collector', () => {
  it('is reached by the Service that the user names, and no other (gateway 40)', async () => {
    await stage.create('renamed', { telemetryIngest: {}, templates })
    await appears(Services, 'renamed-telemetry-ingest')
    await stage.edit('renamed', { spec: { telemetryIngest: { serviceName: 'mine' } } })
    await appears(Services, 'mine')
    await disappears(Services, 'renamed-telemetry-ingest')
    await stage.edit('renamed', { spec: { telemetryIngest: { serviceName: null } } })
    await appears(Services, 'renamed-telemetry-ingest')
    await disappears(Services, 'mine')
  })
})
