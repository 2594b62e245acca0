/** EdgeConnects in a cluster in process, against a simulated tenant and its registry. */
import { ConfigMaps, Deployments, Events, isNotFound, Secrets } from '@reeve/kube'
import { createRegistryClient } from '@reeve/oci'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type EdgeConnectSpec, EdgeConnects } from '../../src/api/latest.ts'
import { decodeSecret, encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { SCHEMA_IDS } from '../../src/tenant/simulator/state/settings-schemas.ts'
import { NAMESPACE, type Stage, setStage } from '../dynakube/support/stage.ts'

const TENANT = 'tenant'

let stage: Stage
/** How often a registry was called. */
let registries = 0
beforeAll(async () => {
  stage = await setStage([TENANT], {
    openRegistry(options) {
      registries += 1
      return createRegistryClient({
        ...options,
        sender: stage.simulator.sender,
        env: {},
        // What is public is found on the stage.
        mirrors: { 'index.docker.io': [stage.simulator.registry.host] },
      })
    },
  })
  const [client] = stage.simulator.tenant(TENANT).oauth.list()
  await stage.client.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: NAMESPACE, name: 'client' },
    data: encodeSecret({ 'oauth-client-id': client?.id ?? '', 'oauth-client-secret': client?.secret ?? '' }),
  })
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const key = (name: string) => ({ namespace: NAMESPACE, name })
const known = () => stage.simulator.tenant(TENANT).edgeConnects.list()
const read = (name: string) => stage.client.get(EdgeConnects, key(name))
const secret = async (name: string) => decodeSecret((await stage.client.get(Secrets, key(name))).data)
const isDeployed = (name: string) => async () =>
  stage.client.get(Deployments, key(name)).then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false
      throw error
    },
  )
const hasVersion = (name: string) => async () => (await read(name)).status?.version !== undefined
const isGone = (name: string) => () =>
  read(name).then(
    () => false,
    (error: unknown) => isNotFound(error),
  )
function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}
const calls = (operation: string) => stage.simulator.calls().filter((call) => call.operation === operation)

function create(name: string, spec: Partial<EdgeConnectSpec> = {}, oauth: Partial<EdgeConnectSpec['oauth']> = {}) {
  return stage.client.create(EdgeConnects, {
    apiVersion: 'dynatrace.com/v1alpha2',
    kind: 'EdgeConnect',
    metadata: key(name),
    spec: {
      apiServer: stage.simulator.authority,
      oauth: {
        clientSecret: 'client',
        endpoint: stage.simulator.tokenUrl,
        resource: `urn:dtenvironment:${TENANT}`,
        ...oauth,
      },
      caCertsRef: 'tenant',
      imageRef: { repository: 'registry.example.com/edgeconnect', tag: '1' },
      ...spec,
    },
  })
}

describe('an EdgeConnect of the user', () => {
  it('is deployed without a request to the tenant', async () => {
    stage.simulator.clearCalls()
    await create('regular')
    await stage.until(isDeployed('regular'))
    const file = parse((await secret('regular-ec-yaml'))['edgeConnect.yaml'] ?? '')
    expect(file).toMatchObject({ name: 'regular', oauth: { resource: `urn:dtenvironment:${TENANT}` } })
    expect(Object.keys(file)).toEqual(['name', 'api_endpoint_host', 'oauth', 'root_certificate_paths'])
    expect(stage.simulator.calls()).toEqual([])
    expect((await read('regular')).metadata.finalizers).toBeUndefined()
    await stage.until(hasVersion('regular'))
    expect((await read('regular')).status?.version).toMatchObject({
      imageID: 'registry.example.com/edgeconnect:1',
      source: 'custom-image',
    })
    expect(registries).toBe(0)
  })

  it('uses another tag immediately', async () => {
    const imageRef = { repository: 'registry.example.com/edgeconnect', tag: '10' }
    await stage.client.patch(EdgeConnects, key('regular'), { type: 'merge', patch: { spec: { imageRef } } })
    const image = async () =>
      (await stage.client.get(Deployments, key('regular'))).spec?.template?.spec?.containers[0]?.image
    await stage.until(async () => (await image()) === 'registry.example.com/edgeconnect:10')
    const back = { imageRef: { ...imageRef, tag: '1' } }
    await stage.client.patch(EdgeConnects, key('regular'), { type: 'merge', patch: { spec: back } })
    await stage.until(async () => (await image()) === 'registry.example.com/edgeconnect:1')
    expect(registries).toBe(0)
  })

  it('reports what is missing, and continues when it exists', async () => {
    await create('waiting', {}, { clientSecret: 'later' })
    await stage.until(async () => (await read('waiting')).status?.phase === 'Error')
    expect((await read('waiting')).status?.conditions?.[0]?.message).toBe(
      'spec.oauth.clientSecret: the Secret dynatrace/later needs the keys oauth-client-id and oauth-client-secret',
    )
    await stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: key('later'),
      data: encodeSecret({ 'oauth-client-id': 'a', 'oauth-client-secret': 'b' }),
    })
    await stage.until(isDeployed('waiting'))
  })

  it('reports an invalid pull secret, and continues without a deleted one', async () => {
    const customPullSecret = 'unfit'
    await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: key(customPullSecret) })
    await create('pulling', { customPullSecret })
    await stage.until(async () => (await read('pulling')).status?.phase === 'Error')
    expect((await read('pulling')).status?.conditions?.[0]?.message).toContain('Secret dynatrace/unfit: has no key')
    await stage.client.delete(Secrets, key(customPullSecret))
    await stage.until(isDeployed('pulling'))
  })

  it('is pinned to what the registry has for its tag', async () => {
    await create('tagged', { imageRef: { tag: 'latest' } })
    await stage.until(isDeployed('tagged'))
    await stage.until(hasVersion('tagged'))
    expect((await read('tagged')).status?.version).toMatchObject({
      imageID: expect.stringMatching(/^docker\.io\/dynatrace\/edgeconnect:latest@sha256:[0-9a-f]{64}$/),
      source: 'public-registry',
    })
    expect(registries).toBeGreaterThan(0)
  })

  it('names the conflicting object of another owner', async () => {
    await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: key('blocked-ec-yaml') })
    await create('blocked')
    await stage.until(async () => (await read('blocked')).status?.phase === 'Error')
    expect((await read('blocked')).status?.conditions?.[0]).toMatchObject({
      reason: 'KubeApiError',
      message: expect.stringContaining('Secret dynatrace/blocked-ec-yaml'),
    })
  })
})

describe('an EdgeConnect of the operator', () => {
  it('is created in the tenant and deployed', async () => {
    await create(
      'made',
      { hostPatterns: ['*.internal.org'], kubernetesAutomation: { enabled: true } },
      { provisioner: true },
    )
    await stage.until(async () => (await read('made')).status?.phase !== undefined)
    const { metadata, status } = await read('made')
    expect(metadata.finalizers).toEqual(['server'])
    const pattern = `made.${NAMESPACE}.${status?.kubeSystemUID}.kubernetes-automation`
    expect(known()).toMatchObject([{ name: 'made', hostPatterns: ['*.internal.org', pattern] }])
    const client = await secret('made-client')
    expect(Object.keys(client).sort()).toEqual([
      'id',
      'oauth-client-id',
      'oauth-client-resource',
      'oauth-client-secret',
    ])
    const file = parse((await secret('made-ec-yaml'))['edgeConnect.yaml'] ?? '')
    expect(file.oauth.client_id).toBe(client['oauth-client-id'])
    expect(calls('edge-connect-create')).toHaveLength(1)
    await stage.until(() => stage.simulator.tenant(TENANT).settings.list().length > 0)
    const [setting] = stage.simulator.tenant(TENANT).settings.list()
    expect(setting?.value).toMatchObject({ name: 'made', namespace: NAMESPACE, token: file.secrets[0].token })
  })

  it('is changed in the tenant only when its hosts change', async () => {
    stage.simulator.clearCalls()
    await stage.client.patch(EdgeConnects, key('made'), { type: 'merge', patch: { spec: { replicas: 2 } } })
    await stage.until(async () => (await stage.client.get(Deployments, key('made'))).spec?.replicas === 2)
    expect(calls('edge-connect-update')).toEqual([])
    const spec = { hostPatterns: ['*.other.org'] }
    await stage.client.patch(EdgeConnects, key('made'), { type: 'merge', patch: { spec } })
    await stage.until(() => known()[0]?.hostPatterns?.includes('*.other.org') ?? false)
    const oauthClientId = (await secret('made-client'))['oauth-client-id']
    expect(calls('edge-connect-update')).toMatchObject([{ body: { name: 'made', oauthClientId } }])
  })

  it('is created again when its client is lost', async () => {
    const before = known()[0]?.id
    // A reconcile in progress still knows the client, and restores it.
    await stage.until(async () => {
      if (known()[0]?.id !== before) return known()[0] !== undefined
      await stage.client.delete(Secrets, key('made-client')).catch(unlessGone)
      return false
    })
    await stage.until(async () => (await secret('made-client').catch(unlessGone))?.id === known()[0]?.id)
    expect(known()).toHaveLength(1)
  })

  it('is created again when its client belongs to another one', async () => {
    const before = known()[0]?.id
    const data = encodeSecret({ id: 'another' })
    await stage.until(async () => {
      if (known()[0]?.id !== before) return known()[0] !== undefined
      await stage.client.patch(Secrets, key('made-client'), { type: 'merge', patch: { data } }).catch(unlessGone)
      return false
    })
    await stage.until(async () => (await secret('made-client').catch(unlessGone))?.id === known()[0]?.id)
  })

  it('goes from the tenant before it goes from the cluster', async () => {
    const fault = stage.simulator.faults.add({ kind: 'status', status: 500, operation: 'edge-connect-delete' })
    await stage.client.delete(EdgeConnects, key('made'))
    await stage.until(() => calls('edge-connect-delete').length > 0)
    expect((await read('made')).metadata.finalizers).toEqual(['server'])
    fault.remove()
    await stage.until(() => known().length === 0)
    await stage.until(isGone('made'))
    expect(stage.simulator.tenant(TENANT).settings.list()).toEqual([])
  })

  it('leaves an EdgeConnect that another client created unchanged', async () => {
    const { edgeConnects, settings } = stage.simulator.tenant(TENANT)
    edgeConnects.create({ name: 'theirs', hostPatterns: ['a'], managedByDynatraceOperator: false })
    const before = known()
    await create('theirs', { kubernetesAutomation: { enabled: true } }, { provisioner: true })
    await stage.until(async () => (await read('theirs')).status?.phase !== undefined)
    const { kubeSystemUID, phase, conditions } = (await read('theirs')).status ?? {}
    // No error and no retry: it waits until the user renames one of them.
    expect(phase).toBe('Deploying')
    expect(conditions).toMatchObject([
      { status: 'False', message: expect.stringContaining('not managed by an operator; rename one of them') },
      { type: 'Ready', status: 'False', reason: 'Deploying' },
    ])
    expect(await isDeployed('theirs')()).toBe(false)
    const value = { name: 'theirs', namespace: NAMESPACE, uid: kubeSystemUID, token: 'theirs' }
    const setting = settings.create({ schemaId: SCHEMA_IDS.connection, scope: 'environment', value })
    await stage.client.delete(EdgeConnects, key('theirs'))
    await stage.until(isGone('theirs'))
    expect(known()).toEqual(before)
    expect(settings.list()).toEqual([setting])
  })

  it('is deleted in the tenant when spec.oauth.provisioner is switched off, and stays deployed', async () => {
    await create('switched', { hostPatterns: ['a'] }, { provisioner: true })
    await stage.until(isDeployed('switched'))
    expect(known().map(({ name }) => name)).toContain('switched')
    const patch = { spec: { oauth: { provisioner: false } } }
    await stage.client.patch(EdgeConnects, key('switched'), { type: 'merge', patch })
    const client = (await secret('client'))['oauth-client-id']
    await stage.until(async () => {
      const file = parse((await secret('switched-ec-yaml'))['edgeConnect.yaml'] ?? '')
      return file.oauth.client_id === client
    })
    await stage.until(() => {
      return !known().some(({ name }) => name === 'switched')
    })
    await stage.until(async () => {
      return stage.client.get(Secrets, key('switched-client')).then(() => false, isNotFound)
    })
    stage.simulator.clearCalls()
    await stage.client.delete(EdgeConnects, key('switched'))
    await stage.until(isGone('switched'))
    expect(calls('edge-connect-delete')).toEqual([])
  })

  it('keeps the client of an EdgeConnect until the tenant has deleted it', async () => {
    await create('kept', { hostPatterns: ['a'] }, { provisioner: true })
    await stage.until(isDeployed('kept'))
    const failing = { kind: 'status', status: 500, tenant: TENANT, operation: 'edge-connect-delete' } as const
    const fault = stage.simulator.faults.add(failing)
    const patch = { spec: { oauth: { provisioner: false } } }
    await stage.client.patch(EdgeConnects, key('kept'), { type: 'merge', patch })
    await stage.until(async () => (await read('kept')).status?.phase === 'Error')
    expect(await secret('kept-client')).toHaveProperty('id')
    fault.remove()
    await stage.until(() => !known().some(({ name }) => name === 'kept'))
  })

  it('loses its finalizer when it can no longer be removed, and an event reports what remains', async () => {
    await create('orphaned', { hostPatterns: ['a'] }, { provisioner: true, clientSecret: 'passing' })
    const { data = {} } = await stage.client.get(Secrets, key('client'))
    await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: key('passing'), data })
    await stage.until(isDeployed('orphaned'))
    await stage.client.delete(Secrets, key('passing'))
    await stage.until(async () => (await read('orphaned')).status?.phase === 'Error')
    await stage.client.delete(EdgeConnects, key('orphaned'))
    await stage.until(isGone('orphaned'))
    await stage.until(async () => {
      const { items } = await stage.client.list(Events, { namespace: NAMESPACE })
      return items.some(({ reason, involvedObject }) => {
        return reason === 'EdgeConnectNotRemoved' && involvedObject.name === 'orphaned'
      })
    })
    expect(known().map(({ name }) => name)).toContain('orphaned')
  })
})

it('an EdgeConnect trusts only certificates that exist', async () => {
  await stage.client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key('empty') })
  await create('distrusting', { caCertsRef: 'empty' }, { provisioner: true })
  await stage.until(async () => (await read('distrusting')).status?.phase === 'Error')
  expect((await read('distrusting')).status?.conditions?.[0]?.message).toContain('spec.caCertsRef')
})
