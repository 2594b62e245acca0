import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SCHEMA_IDS, startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { callApi, type SendOptions } from './support/simulator-client.ts'

let simulator: TenantSimulator

beforeEach(async () => {
  simulator = await startTenantSimulator()
})

afterEach(() => simulator.close())

const CLUSTER_ID = '5b8a7c1e-0000-4000-8000-000000000001'
const settings = () => simulator.tenant('abc12345').settings
const api = (path: string, options?: SendOptions) => callApi(simulator, path, options)
const create = (...objects: readonly object[]) =>
  api('/v2/settings/objects?validateOnly=false', { method: 'POST', body: objects })
const clusterSetting = (clusterId = CLUSTER_ID) => ({
  value: { label: 'dk', clusterId, clusterIdEnabled: true, enabled: true },
  schemaId: SCHEMA_IDS.cluster,
  schemaVersion: '3.0.0',
})
const findCluster = (clusterId = CLUSTER_ID) =>
  api(
    `/v2/settings/objects?fields=value%2Cscope&filter=value.clusterId%3D%27${clusterId}%27&pageSize=500&schemaIds=builtin%3Acloud.kubernetes`,
  )
const rules = (scope: string, source: string) => ({
  schemaId: SCHEMA_IDS.enrichment,
  scope,
  value: { rules: [{ type: 'LABEL', source }] },
})

describe('the setting of a cluster', () => {
  test('is found by cluster id once it exists, with its own entity', async () => {
    expect((await findCluster()).json()).toEqual({ items: [], totalCount: 0, pageSize: 500 })
    const created = await create(clusterSetting())
    expect([created.status, created.json()]).toMatchObject([200, [{ objectId: expect.any(String) }]])
    const found = await findCluster()
    expect(found.json()).toMatchObject({
      items: [{ scope: expect.stringMatching(/^KUBERNETES_CLUSTER-[0-9A-F]{16}$/), value: { label: 'dk' } }],
      totalCount: 1,
    })
    const [item] = (found.json() as { items: { scope: string }[] }).items
    expect(Object.keys(item ?? {}).sort()).toEqual(['scope', 'value'])
    const count = await api(`/v2/settings/objects?schemaIds=builtin%3Acloud.kubernetes&scopes=${item?.scope}`)
    expect(count.json()).toMatchObject({ totalCount: 1 })
  })

  test('is written once however often it is created, and clusters do not mix', async () => {
    await create(clusterSetting())
    await create(clusterSetting())
    await create(clusterSetting('another'))
    expect(settings().list()).toHaveLength(2)
    expect(
      new Set(
        settings()
          .list()
          .map(({ scope }) => scope),
      ).size,
    ).toBe(2)
  })

  test('meets an old tenant with 404 in an array, and is accepted in the old version', async () => {
    settings().setSchema({ ...settings().schema(SCHEMA_IDS.cluster), versions: ['1.0.27'] })
    const refused = await create(clusterSetting())
    expect([refused.status, refused.json()]).toMatchObject([404, [{ error: { code: 404 } }]])
    expect((await create({ ...clusterSetting(), schemaVersion: '1.0.27' })).status).toBe(200)
  })
})

describe('settings objects', () => {
  test('of the other schemas of an operator are found again by scope', async () => {
    const scope = 'KUBERNETES_CLUSTER-0123456789ABCDEF'
    const log = { 'config-item-title': 'c', matchers: [], enabled: true, 'send-to-storage': true }
    const app = { kubernetesAppOptions: { enableKubernetesApp: true } }
    for (const [schemaId, schemaVersion, value] of [
      [SCHEMA_IDS.logStorage, '1.0.16', log],
      [SCHEMA_IDS.kubernetesApp, '1.0.1', app],
    ] as const) {
      expect((await create({ schemaId, schemaVersion, scope, value })).status).toBe(200)
      const found = await api(`/v2/settings/objects?schemaIds=${encodeURIComponent(schemaId)}&scopes=${scope}`)
      expect(found.json()).toMatchObject({ totalCount: 1, items: [{ objectId: expect.any(String), value }] })
    }
  })

  test('can be read, changed and deleted by id', async () => {
    const { objectId } = settings().create(rules('environment', 'team'))
    const path = `/v2/settings/objects/${objectId}`
    expect((await api(path)).json()).toMatchObject({ objectId, value: { rules: [{ source: 'team' }] } })
    const changed = await api(path, { method: 'PUT', body: { value: { rules: [] } } })
    expect([changed.status, settings().get(objectId).value]).toEqual([200, { rules: [] }])
    expect((await api(path, { method: 'DELETE' })).status).toBe(204)
    expect((await api(path)).status).toBe(404)
  })

  test('come in pages whose key contains the query', async () => {
    for (let index = 0; index < 5; index++) settings().create(rules(`SCOPE-${index}`, 'x'))
    const scopes: string[] = []
    let query = `schemaIds=${SCHEMA_IDS.enrichment}&fields=scope&pageSize=2`
    for (let page = 0; page < 3; page++) {
      const reply = (await api(`/v2/settings/objects?${query}`)).json() as {
        items: { scope: string }[]
        totalCount: number
        nextPageKey?: string
      }
      expect(reply.totalCount).toBe(5)
      scopes.push(...reply.items.map(({ scope }) => scope))
      query = `nextPageKey=${reply.nextPageKey}`
    }
    expect(scopes).toEqual([0, 1, 2, 3, 4].map((index) => `SCOPE-${index}`))
    expect(query).toBe('nextPageKey=undefined')
    expect((await api('/v2/settings/objects?nextPageKey=rubbish')).status).toBe(400)
  })

  test('of one request are written together or not at all', async () => {
    const reply = await create(rules('environment', 'x'), { ...rules('environment', 'y'), value: {} })
    expect(reply.status).toBe(400)
    expect(reply.json()).toMatchObject([
      { error: { code: 400, constraintViolations: [{ path: 'value.rules', parameterLocation: 'PAYLOAD_BODY' }] } },
    ])
    expect(settings().list()).toEqual([])
  })

  test('are only validated if requested', async () => {
    const body = [rules('environment', 'x')]
    const reply = await api('/v2/settings/objects?validateOnly=true', { method: 'POST', body })
    expect([reply.status, settings().list()]).toEqual([200, []])
  })

  test.each([
    ['an object instead of an array', {}, 400],
    ['an empty array', [], 400],
    ['an invalid value', [{ ...clusterSetting(), value: 1 }], 400],
    ['no scope where one is needed', [{ ...rules('x', 'x'), scope: undefined }], 400],
    ['an unknown schema', [{ ...clusterSetting(), schemaId: 'builtin:nothing' }], 404],
  ])('%s is refused in an array', async (_name, body, status) => {
    const reply = await api('/v2/settings/objects', { method: 'POST', body })
    expect(reply.status).toBe(status)
    expect(reply.json()).toMatchObject([{ error: { code: status } }])
  })

  test('of an unknown schema are not found, in an object that names the schema', async () => {
    settings().removeSchema(SCHEMA_IDS.kubernetesApp)
    const reply = await api(`/v2/settings/objects?schemaIds=${SCHEMA_IDS.kubernetesApp}&scopes=X`)
    expect(reply.status).toBe(404)
    expect(reply.json()).toMatchObject({
      error: { code: 404, message: expect.stringContaining(SCHEMA_IDS.kubernetesApp) },
    })
  })

  test('a token without the scope is refused in an object, also when it writes', async () => {
    simulator.tenant('abc12345').tokens.setScopes('apiToken', ['settings.read'])
    const reply = await create(clusterSetting())
    expect([reply.status, reply.json()]).toMatchObject([403, { error: { code: 403 } }])
    expect((await findCluster()).status).toBe(200)
  })
})

describe('effective values', () => {
  const effective = async (scope: string) => {
    const schema = encodeURIComponent(SCHEMA_IDS.enrichment)
    const reply = await api(`/v2/settings/effectiveValues?schemaIds=${schema}&scope=${scope}`)
    return (reply.json() as { items: unknown[] }).items
  }

  test('are those of the scope, else of the tenant, else of the schema', async () => {
    expect(await effective('K')).toMatchObject([{ value: { rules: [] } }])
    settings().create(rules('environment', 'everywhere'))
    expect(await effective('K')).toMatchObject([{ value: { rules: [{ source: 'everywhere' }] } }])
    settings().create(rules('K', 'here'))
    expect(await effective('K')).toMatchObject([{ value: { rules: [{ source: 'here' }] } }])
  })

  test('of an unknown schema are not found, naming it', async () => {
    settings().removeSchema(SCHEMA_IDS.enrichment)
    const reply = await api(`/v2/settings/effectiveValues?schemaIds=${SCHEMA_IDS.enrichment}&scope=environment`)
    expect([reply.status, reply.text]).toEqual([404, expect.stringContaining(SCHEMA_IDS.enrichment)])
  })
})

describe('hosts and events', () => {
  const event = (entityId: string) => ({
    eventType: 'MARKED_FOR_TERMINATION',
    description: 'node cordoned',
    source: 'Dynatrace Operator',
    attachRules: { entityIds: [entityId] },
    start: 1_700_000_000_000,
    end: 1_700_000_000_000,
  })
  const post = (body: unknown) => api('/v1/events', { method: 'POST', body })

  test('hosts are listed whole, or in pages', async () => {
    const { hosts } = simulator.tenant('abc12345')
    const path = '/v1/entity/infrastructure/hosts?relativeTime=30mins&includeDetails=false'
    hosts.add({ entityId: 'HOST-1', ipAddresses: ['10.0.0.1'] })
    hosts.add({ entityId: 'HOST-2', ipAddresses: ['10.0.0.2'], networkZoneId: 'z1' })
    expect((await api(path)).json()).toMatchObject([
      { entityId: 'HOST-1', networkZoneId: 'default', ipAddresses: ['10.0.0.1'] },
      { entityId: 'HOST-2', networkZoneId: 'z1' },
    ])
    const first = await api(`${path}&pageSize=1`)
    expect(first.json()).toMatchObject([{ entityId: 'HOST-1' }])
    const second = await api(`${path}&pageSize=1&nextPageKey=${first.headers['next-page-key']}`)
    expect([second.json(), second.headers['next-page-key']]).toMatchObject([[{ entityId: 'HOST-2' }], undefined])
  })

  test('an event about a known host is stored', async () => {
    const { hosts } = simulator.tenant('abc12345')
    const { entityId } = hosts.add({ ipAddresses: ['10.0.0.1'] })
    expect((await post(event(entityId))).status).toBe(200)
    expect(hosts.events()).toMatchObject([{ eventType: 'MARKED_FOR_TERMINATION', entityIds: [entityId] }])
  })

  test.each([
    ['an unknown type', { ...event('HOST-1'), eventType: 'NONSENSE' }, 'eventType'],
    ['an unknown host', event('HOST-9'), 'attachRules.entityIds'],
    ['no host', { ...event('HOST-1'), attachRules: {} }, 'attachRules.entityIds'],
    ['an invalid time', { ...event('HOST-1'), start: 'now' }, 'start'],
    ['no source', { ...event('HOST-1'), source: '' }, 'source'],
  ])('an event with %s is refused', async (_name, body, path) => {
    simulator.tenant('abc12345').hosts.add({ entityId: 'HOST-1', ipAddresses: [] })
    const reply = await post(body)
    expect(reply.status).toBe(400)
    expect(reply.json()).toMatchObject({ error: { code: 400, constraintViolations: [{ path }] } })
    expect(simulator.tenant('abc12345').hosts.events()).toEqual([])
  })
})
