import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CONFIG_MAPS, configMap, InProcess } from './support/in-process.ts'
import { ManualClock } from './support/manual-clock.ts'

let cluster: InProcess

beforeEach(async () => {
  cluster = await InProcess.start()
})

afterEach(() => cluster.stop())

async function create(...names: string[]): Promise<void> {
  for (const name of names) expect((await cluster.send('POST', CONFIG_MAPS, configMap(name))).status).toBe(201)
}

const names = (list: { items: { metadata: { name: string } }[] }) => list.items.map(({ metadata }) => metadata.name)

describe('pages', () => {
  test('of one list have one state, whatever is written in between', async () => {
    await create('a', 'b', 'c', 'd')
    const first = await cluster.send('GET', `${CONFIG_MAPS}?limit=2`)
    expect(names(first.body)).toEqual(['a', 'b'])
    expect(first.body.metadata.remainingItemCount).toBe(2)
    await cluster.send('DELETE', `${CONFIG_MAPS}/c`)
    await create('bb', 'e')
    const second = await cluster.send('GET', `${CONFIG_MAPS}?limit=2&continue=${first.body.metadata.continue}`)
    expect(names(second.body)).toEqual(['c', 'd'])
    expect(second.body.metadata.continue).toBeUndefined()
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion)
  })

  test('whose state is discarded get 410 with a token that continues from the latest state', async () => {
    await create('a', 'b', 'c')
    const first = await cluster.send('GET', `${CONFIG_MAPS}?limit=1`)
    await create('bb')
    cluster.cluster.compact()
    const expired = await cluster.send('GET', `${CONFIG_MAPS}?limit=10&continue=${first.body.metadata.continue}`)
    expect(expired).toMatchObject({ status: 410, body: { reason: 'Expired' } })
    const rest = await cluster.send('GET', `${CONFIG_MAPS}?continue=${expired.body.metadata.continue}`)
    expect(names(rest.body)).toEqual(['b', 'bb', 'c'])
  })

  test('expire five to six minutes after their list, also in a cluster where nothing is written', async () => {
    const clock = new ManualClock()
    await cluster.stop()
    cluster = await InProcess.start({ clock })
    await create('a', 'b', 'c')
    const first = await cluster.send('GET', `${CONFIG_MAPS}?limit=1`)
    const second = () => cluster.send('GET', `${CONFIG_MAPS}?limit=1&continue=${first.body.metadata.continue}`)
    clock.advance(5 * 60_000)
    expect(names((await second()).body)).toEqual(['b'])
    clock.advance(60_000)
    const expired = await second()
    expect(expired).toMatchObject({ status: 410, body: { reason: 'Expired' } })
    const rest = await cluster.send('GET', `${CONFIG_MAPS}?limit=1&continue=${expired.body.metadata.continue}`)
    expect(names(rest.body)).toEqual(['b'])
    expect(rest.body.metadata.resourceVersion).not.toBe(first.body.metadata.resourceVersion)
    const last = await cluster.send('GET', `${CONFIG_MAPS}?limit=1&continue=${rest.body.metadata.continue}`)
    expect(last.body.metadata.resourceVersion).toBe(rest.body.metadata.resourceVersion)
    // Nobody holds a token any more, so that the cluster has no reason to work.
    clock.advance(24 * 60 * 60_000)
    expect(clock.pendingTimers).toBe(0)
  })

  test('with a selector have no remaining count', async () => {
    for (const name of ['a', 'b', 'c']) {
      await cluster.send('POST', CONFIG_MAPS, configMap(name, {}, { labels: { app: 'x' } }))
    }
    const { body } = await cluster.send('GET', `${CONFIG_MAPS}?limit=1&labelSelector=app%3Dx`)
    expect(body.metadata.continue).toBeDefined()
    expect(body.metadata.remainingItemCount).toBeUndefined()
  })
})

describe('a resourceVersion', () => {
  test('with match Exact returns the state of that version', async () => {
    await create('a')
    const { body: then } = await cluster.send('GET', CONFIG_MAPS)
    await create('b')
    const path = `${CONFIG_MAPS}?resourceVersionMatch=Exact&resourceVersion=${then.metadata.resourceVersion}`
    expect((await cluster.send('GET', path)).body).toEqual(then)
  })

  test('from the past is satisfied by the current state', async () => {
    await create('a')
    const { body } = await cluster.send('GET', `${CONFIG_MAPS}?resourceVersion=1`)
    expect(names(body)).toEqual(['a'])
  })

  test('from the near future is waited for', async () => {
    const { body } = await cluster.send('GET', CONFIG_MAPS)
    const next = Number(body.metadata.resourceVersion) + 1
    const waiting = cluster.send('GET', `${CONFIG_MAPS}?resourceVersion=${next}`)
    await create('a')
    expect(names((await waiting).body)).toEqual(['a'])
  })
})

describe('the response', () => {
  test('to a list omits kind and apiVersion of items, like typed lists', async () => {
    await create('a')
    const { body } = await cluster.send('GET', CONFIG_MAPS)
    expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' })
    expect(Object.keys(body.items[0])).toEqual(['metadata'])
  })

  test('contains only metadata when requested', async () => {
    await cluster.send('POST', CONFIG_MAPS, configMap('a', { k: 'v' }))
    const headers = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }
    const { body } = await cluster.send('GET', CONFIG_MAPS, undefined, { headers })
    expect(body).toMatchObject({ kind: 'PartialObjectMetadataList', items: [{ kind: 'PartialObjectMetadata' }] })
    expect(body.items[0].data).toBeUndefined()
  })

  test('is YAML when requested', async () => {
    await create('a')
    const { text, headers } = await cluster.send('GET', `${CONFIG_MAPS}/a`, undefined, {
      headers: { accept: 'application/yaml' },
    })
    expect(headers['content-type']).toBe('application/yaml')
    expect(text).toMatch(/^apiVersion: v1\nkind: ConfigMap\nmetadata:\n/)
  })

  test('to curl and browsers is indented', async () => {
    await create('a')
    const { text } = await cluster.send('GET', `${CONFIG_MAPS}/a`, undefined, { headers: { 'user-agent': 'curl/8.0' } })
    expect(text).toContain('\n  "kind": "ConfigMap"')
  })
})

describe('discovery', () => {
  test('is only sent again when it changed', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const first = await cluster.send('GET', '/apis', undefined, { headers: { accept } })
    expect(first.headers['content-type']).toBe(accept)
    const etag = String(first.headers.etag)
    const again = await cluster.send('GET', '/apis', undefined, { headers: { accept, 'if-none-match': etag } })
    expect(again).toMatchObject({ status: 304, text: '' })
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }
    await cluster.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
    const changed = await cluster.send('GET', '/apis', undefined, { headers: { accept, 'if-none-match': etag } })
    expect(changed.status).toBe(200)
    expect(changed.text).toContain('"resource":"widgets"')
    const openapi = await cluster.send('GET', '/openapi/v3')
    expect(openapi.body.paths['apis/example.com/v1'].serverRelativeURL).toMatch(/\?hash=[0-9A-F]{128}$/)
  })

  test('OpenAPI documents contain no dangling references', async () => {
    const { body: index } = await cluster.send('GET', '/openapi/v3')
    for (const path of ['api/v1', 'apis/apps/v1', 'apis/autoscaling/v2']) {
      const { body, text } = await cluster.send('GET', index.paths[path].serverRelativeURL)
      const schemas = new Set(Object.keys(body.components.schemas))
      const referred = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name)
      expect(referred.length).toBeGreaterThan(10)
      expect(referred.filter((name) => !schemas.has(name ?? ''))).toEqual([])
    }
  })
})
