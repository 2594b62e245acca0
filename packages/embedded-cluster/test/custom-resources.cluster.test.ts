/** Custom resources: pruning, defaults, validation, subresources, selectors, columns, versions. Passes on both clusters. */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWebhookServer } from '../src/admission/testing/webhook-server.ts'
import type { JsonObject } from '../src/index.ts'
import {
  type DefinitionParts,
  deletedOnDispose,
  establish,
  schema,
  uniqueGroup,
  version,
} from './support/definition.ts'
import { eventually } from './support/eventually.ts'

let cluster: ClusterUnderTest
let namespace: string
beforeAll(async () => {
  cluster = await openCluster()
  namespace = await cluster.createNamespace()
})
afterAll(() => cluster.close())

interface Widget {
  readonly apiVersion: string
  readonly metadata: JsonObject & { readonly generation: number; readonly resourceVersion: string }
  readonly spec: JsonObject
  readonly status?: JsonObject
}

/** The widgets of one group. */
class Widgets {
  readonly group: string
  readonly #version: string

  constructor(group: string, served = 'v1') {
    this.group = group
    this.#version = served
  }

  path(rest = ''): string {
    return `/apis/${this.group}/${this.#version}/namespaces/${namespace}/widgets${rest}`
  }

  object(name: string, more: JsonObject = {}): JsonObject {
    return { apiVersion: `${this.group}/${this.#version}`, kind: 'Widget', metadata: { name }, ...more }
  }

  create(name: string, more: JsonObject = {}, query = '') {
    return cluster.raw.send({ method: 'POST', path: this.path(query), body: this.object(name, more) })
  }

  async get(name: string): Promise<Widget> {
    return (await cluster.raw.send({ path: this.path(`/${name}`) })).json<Widget>()
  }

  patch(name: string, body: JsonObject, type = 'merge') {
    const headers = { 'content-type': `application/${type}-patch+${type === 'apply' ? 'yaml' : 'json'}` }
    return cluster.raw.send({ method: 'PATCH', path: this.path(`/${name}`), body, headers })
  }

  put(name: string, body: unknown) {
    return cluster.raw.send({ method: 'PUT', path: this.path(`/${name}`), body })
  }
}

async function widgets(parts: DefinitionParts): Promise<Widgets> {
  const group = uniqueGroup()
  await establish(cluster, group, parts)
  return new Widgets(group)
}

// Every definition takes a real server two seconds, so cases wait for theirs concurrently.
describe.concurrent('fields', () => {
  let all: Widgets
  beforeAll(async () => {
    all = await widgets({
      version: {
        schema: schema({
          color: { type: 'string', enum: ['red', 'blue'] },
          count: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
          port: { 'x-kubernetes-int-or-string': true },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          maybe: { type: 'string', nullable: true },
          nested: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
          name: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 4 },
          set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          map: {
            type: 'array',
            items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'string' } } },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
          },
        }),
      },
    })
  })

  it('that are unknown are dropped with a warning, rejected, or dropped silently', async () => {
    const extra = { spec: { a: 'x', zz: 1, free: { kept: { deep: 1 } } }, extra: true }
    const warned = await all.create('warned', extra)
    expect(warned.json<Widget>().spec).toEqual({ a: 'x', count: 3, free: { kept: { deep: 1 } } })
    expect([warned.headers.warning].flat().join(', ')).toBe(
      '299 - "unknown field \\"extra\\"", 299 - "unknown field \\"spec.zz\\""',
    )
    const rejected = await all.create('strict', extra, '?fieldValidation=Strict')
    expect(rejected.status).toBe(400)
    expect(rejected.json().message).toBe(
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "extra", unknown field "spec.zz"',
    )
    const ignored = await all.create('ignored', extra, '?fieldValidation=Ignore')
    expect(ignored.headers.warning).toBeUndefined()
  })

  it('get their defaults, in objects that exist', async () => {
    expect((await all.create('defaults', { spec: {} })).json<Widget>().spec).toEqual({ count: 3 })
    expect((await all.create('nested', { spec: { nested: {} } })).json<Widget>().spec).toEqual({
      count: 3,
      nested: { on: true },
    })
    expect((await all.create('none')).json<Widget>().spec).toBeUndefined()
  })

  it('may be null where that is allowed, and get their default otherwise', async () => {
    const created = await all.create('nulls', { spec: { maybe: null, count: null } })
    expect(created.json<Widget>().spec).toEqual({ maybe: null, count: 3 })
  })

  it.each<[string, JsonObject, string]>([
    ['type', { a: 1 }, 'spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"'],
    ['enum', { color: 'green' }, 'spec.color: Unsupported value: "green": supported values: "red", "blue"'],
    ['minimum', { count: 0 }, 'spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1'],
    ['maximum', { count: 11 }, 'spec.count: Invalid value: 11: spec.count in body should be less than or equal to 10'],
    ['pattern', { name: 'A1' }, 'spec.name: Invalid value: "A1": spec.name in body should match \'^[a-z]+$\''],
    ['length', { name: 'abcde' }, 'spec.name: Too long: may not be more than 4 bytes'],
    [
      'int or string',
      { port: true },
      'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    ],
    ['required', { map: [{ v: 'x' }] }, 'spec.map[0].k: Required value'],
    ['set', { set: ['a', 'a'] }, 'spec.set[1]: Duplicate value: "a"'],
    ['list of keys', { map: [{ k: 'a' }, { k: 'a' }] }, 'spec.map[1]: Duplicate value: {"k":"a"}'],
  ])('are validated: %s', async (_, spec, message) => {
    const { status, json } = await all.create('invalid', { spec })
    expect(json()).toMatchObject({ reason: 'Invalid', message: `Widget.${all.group} "invalid" is invalid: ${message}` })
    expect(status).toBe(422)
  })

  it('may be numbers or strings where both are allowed', async () => {
    expect((await all.create('number', { spec: { port: 80 } })).status).toBe(201)
    expect((await all.create('text', { spec: { port: 'http' } })).status).toBe(201)
  })
})

describe.concurrent('an object without a status subresource', () => {
  it('keeps its status and counts every change as a generation', async () => {
    const all = await widgets({})
    await all.create('a', { spec: { a: '1' }, status: { x: 1 } })
    expect(await all.get('a')).toMatchObject({ status: { x: 1 }, metadata: { generation: 1 } })
    await all.patch('a', { metadata: { labels: { a: 'b' } } })
    expect((await all.get('a')).metadata.generation).toBe(1)
    await all.patch('a', { status: { x: 2 } })
    expect((await all.get('a')).metadata.generation).toBe(2)
    expect((await cluster.raw.send({ path: all.path('/a/status') })).status).toBe(404)
  })

  it('must be replaced with its resourceVersion', async () => {
    const all = await widgets({})
    await all.create('a', { spec: { a: '1' } })
    const { json, status } = await all.put('a', all.object('a', { spec: { a: '2' } }))
    expect(status).toBe(422)
    expect(json().message).toBe(
      `widgets.${all.group} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    )
    const live = await all.get('a')
    expect((await all.put('a', { ...live, spec: { a: '2' } })).status).toBe(200)
    expect((await all.put('a', { ...live, spec: { a: '3' } })).status).toBe(409)
  })

  it('does not support strategic merge patch', async () => {
    const all = await widgets({})
    await all.create('a')
    const { status, json } = await all.patch('a', { spec: { a: 'x' } }, 'strategic-merge')
    expect(status).toBe(415)
    expect(json().message).toBe(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    )
  })
})

describe.concurrent('an object with status and scale subresources', () => {
  let all: Widgets
  beforeAll(async () => {
    all = await widgets({
      version: {
        schema: schema({ replicas: { type: 'integer' } }),
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    })
  })

  it('is created without a status, which only changes through the subresource', async () => {
    expect((await all.create('status', { spec: { a: '1' }, status: { x: 1 } })).json<Widget>().status).toBeUndefined()
    await all.patch('status/status', { status: { x: 2 }, spec: { a: '2' }, metadata: { labels: { no: 'way' } } })
    const live = await all.get('status')
    expect(live).toMatchObject({ spec: { a: '1' }, status: { x: 2 }, metadata: { generation: 1 } })
    expect(live.metadata.labels).toBeUndefined()
    await all.patch('status', { status: { x: 3 }, spec: { a: '3' } })
    expect(await all.get('status')).toMatchObject({ spec: { a: '3' }, status: { x: 2 }, metadata: { generation: 2 } })
  })

  it('is read and written as a Scale', async () => {
    await all.create('scale', { spec: { replicas: 2 } })
    await all.patch('scale/status', { status: { replicas: 1, selector: 'app=x' } })
    const read = (await cluster.raw.send({ path: all.path('/scale/scale') })).json<Widget>()
    expect(read).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'scale', namespace, resourceVersion: expect.any(String), uid: expect.any(String) },
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'app=x' },
    })
    expect((await all.put('scale/scale', { ...read, spec: { replicas: 5 } })).json<Widget>().spec).toEqual({
      replicas: 5,
    })
    expect(await all.get('scale')).toMatchObject({ spec: { replicas: 5 }, metadata: { generation: 2 } })
    expect((await all.patch('scale/scale', { spec: { replicas: 6 } })).status).toBe(200)
    expect((await all.get('scale')).spec).toEqual({ replicas: 6 })
  })

  it('cannot be scaled below zero or without replicas', async () => {
    await all.create('below', { spec: { replicas: 2 } })
    const { status, json } = await all.patch('below/scale', { spec: { replicas: -1 } })
    expect(status).toBe(422)
    const negative = '.spec.replicas: Invalid value: -1: should be a non-negative integer'
    expect(json().message).toBe(`Widget.${all.group} "below" is invalid: ${negative}`)
    expect((await all.create('born', { spec: { replicas: -1 } })).json().message).toContain(negative)
    await all.create('without')
    const missing = await cluster.raw.send({ path: all.path('/without/scale') })
    expect(missing.status).toBe(500)
    expect(missing.json().message).toBe(
      'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    )
  })
})

describe.concurrent('selectable fields', () => {
  it('select objects in lists, and others are rejected', async () => {
    const all = await widgets({
      version: { selectableFields: [{ jsonPath: '.spec.a' }], schema: schema({ b: { type: 'string' } }) },
    })
    await all.create('one', { spec: { a: 'x' } })
    await all.create('two', { spec: { a: 'y' } })
    await all.create('three')
    const names = async (selector: string) => {
      const response = await cluster.raw.send({ path: all.path(`?fieldSelector=${encodeURIComponent(selector)}`) })
      const { items } = response.json<{ items?: Widget[] }>()
      return items === undefined ? response.json().message : items.map(({ metadata }) => metadata.name).sort()
    }
    expect(await names('spec.a=x')).toEqual(['one'])
    expect(await names('spec.a!=x')).toEqual(['three', 'two'])
    expect(await names('spec.a=x,metadata.name=two')).toEqual([])
    expect(await names('spec.b=x')).toContain('field label not supported: spec.b')
  })
})

describe.concurrent('columns', () => {
  const table = async (all: Widgets) => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const response = await cluster.raw.send({ path: all.path(), headers })
    return response.json<{ columnDefinitions: JsonObject[]; rows: { cells: unknown[] }[] }>()
  }

  it('are name and age by default', async () => {
    const all = await widgets({})
    await all.create('a')
    const { columnDefinitions, rows } = await table(all)
    expect(columnDefinitions.map(({ name, type }) => `${String(name)} ${String(type)}`)).toEqual([
      'Name string',
      'Age date',
    ])
    expect(rows[0]?.cells[0]).toBe('a')
  })

  it('are those of the definition', async () => {
    const all = await widgets({
      version: {
        schema: schema({
          n: { type: 'integer' },
          list: { type: 'array', items: { type: 'string' } },
          on: { type: 'boolean' },
        }),
        additionalPrinterColumns: [
          { name: 'A', type: 'string', jsonPath: '.spec.a', description: 'what a is' },
          { name: 'N', type: 'integer', jsonPath: '.spec.n', priority: 1 },
          { name: 'First', type: 'string', jsonPath: '.spec.list[0]' },
          { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
        ],
      },
    })
    await all.create('full', { spec: { a: 'x', n: 7, list: ['l0', 'l1'], on: true } })
    await all.create('spare')
    const { columnDefinitions, rows } = await table(all)
    expect(columnDefinitions).toMatchObject([
      { name: 'Name', type: 'string', format: 'name', priority: 0 },
      { name: 'A', type: 'string', description: 'what a is', priority: 0 },
      { name: 'N', type: 'integer', priority: 1 },
      { name: 'First', type: 'string' },
      { name: 'On', type: 'boolean' },
    ])
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['full', 'x', 7, 'l0', true],
      ['spare', null, null, null, null],
    ])
  })
})

describe.concurrent('versions', () => {
  it('without a webhook share their fields', async () => {
    const v1 = await widgets({
      spec: {
        versions: [version('v1', { storage: true }), version('v2', { schema: schema({ b: { type: 'string' } }) })],
      },
    })
    const v2 = new Widgets(v1.group, 'v2')
    await v2.create('a', { spec: { a: 'x', b: 'y' } })
    expect(await v2.get('a')).toMatchObject({ apiVersion: `${v1.group}/v2` })
    expect(await v1.get('a')).toMatchObject({ apiVersion: `${v1.group}/v1`, spec: { a: 'x' } })
    const wrong = await cluster.raw.send({ method: 'POST', path: v1.path(), body: v2.object('b') })
    expect(wrong.status).toBe(400)
    expect(wrong.json().message).toBe(
      `the API version in the data (${v1.group}/v2) does not match the expected API version (${v1.group}/v1)`,
    )
  })

  it('with a webhook are converted by it, also in lists and watches', async () => {
    await using server = await startWebhookServer(['127.0.0.1'], convert)
    const clientConfig = { url: `https://127.0.0.1:${server.port}/convert`, caBundle: server.caBundle }
    const versions = [version('v1', { storage: true }), version('v2', { schema: schema({ b: { type: 'string' } }) })]
    const v1 = await widgets({
      spec: {
        versions,
        conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } },
      },
    })
    await using _removed = deletedOnDispose(cluster, v1.group)
    const v2 = new Widgets(v1.group, 'v2')
    const created = await v2.create('a', { spec: { b: 'x' } })
    expect(created.status).toBe(201)
    expect(await v1.get('a')).toMatchObject({ apiVersion: `${v1.group}/v1`, spec: { a: 'x' } })
    expect(await v2.get('a')).toMatchObject({ apiVersion: `${v1.group}/v2`, spec: { b: 'x' } })
    await v1.create('b', { spec: { a: 'y' } })
    const list = (await cluster.raw.send({ path: v2.path() })).json<{ items: Widget[] }>()
    expect(list.items.map(({ apiVersion, spec }) => [apiVersion, spec.b])).toEqual([
      [`${v1.group}/v2`, 'x'],
      [`${v1.group}/v2`, 'y'],
    ])
    for await (const { object } of cluster.raw.watch(`${v2.path()}?watch=true&fieldSelector=metadata.name%3Da`)) {
      expect(object).toMatchObject({ apiVersion: `${v1.group}/v2`, spec: { b: 'x' } })
      break
    }
  })

  it('whose webhook fails cannot be read', async () => {
    await using server = await startWebhookServer(['127.0.0.1'], (_, response) => {
      response.writeHead(500)
      return 'boom'
    })
    const clientConfig = { url: `https://127.0.0.1:${server.port}/convert`, caBundle: server.caBundle }
    const v1 = await widgets({
      spec: {
        versions: [version('v1', { storage: true }), version('v2')],
        conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } },
      },
    })
    await using _removed = deletedOnDispose(cluster, v1.group)
    // managedFields contain versions, which a real server converts too; the storage version needs no webhook.
    await v1.create('a', { spec: { a: 'x' } })
    const { status, json } = await cluster.raw.send({ path: new Widgets(v1.group, 'v2').path('/a') })
    expect(status).toBe(500)
    expect(json()).toMatchObject({
      message: `conversion webhook for ${v1.group}/v1, Kind=Widget failed: an error on the server ("boom") has prevented the request from succeeding`,
    })
    expect(json().reason).toBeUndefined()
  })

  /** v1 calls the field `a`, v2 calls it `b`. */
  function convert(review: JsonObject): JsonObject {
    const request = review.request as unknown as { uid: string; desiredAPIVersion: string; objects: Widget[] }
    const convertedObjects = request.objects.map((object) => {
      const { a, b, ...rest } = object.spec ?? {}
      const value = a ?? b
      const isV2 = request.desiredAPIVersion.endsWith('/v2')
      const spec = value === undefined ? rest : { ...rest, [isV2 ? 'b' : 'a']: value }
      return { ...object, apiVersion: request.desiredAPIVersion, spec }
    })
    const response = { uid: request.uid, result: { status: 'Success' }, convertedObjects }
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: response as unknown as JsonObject,
    }
  }
})

describe.concurrent('a schema that changed', () => {
  it('accepts old objects where they did not change', async () => {
    const all = await widgets({})
    await all.create('a', { spec: { a: 'long' } })
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${all.group}`
    const tighter = [version('v1', { storage: true, schema: schema({ a: { type: 'string', maxLength: 2 } }) })]
    await cluster.raw.send({
      method: 'PATCH',
      path,
      body: { spec: { versions: tighter } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await eventually(
      'the new schema takes effect',
      async () => (await all.create('b', { spec: { a: 'long' } }, '?dryRun=All')).status === 422,
    )
    expect((await all.patch('a', { metadata: { labels: { x: 'y' } } })).status).toBe(200)
    expect((await all.patch('a', { spec: { a: 'longer' } })).status).toBe(422)
  })
})

describe.concurrent('a null where none is allowed', () => {
  const properties = { size: { type: 'integer' }, kept: { type: 'integer', default: 3 } }

  it('means absent in a created object', async () => {
    const all = await widgets({ version: { schema: schema(properties) } })
    const created = await all.create('a', { spec: { size: null, kept: null } })
    expect([created.status, created.json<Widget>().spec]).toEqual([201, { kept: 3 }])
  })

  it('is rejected in an applied object, unless a default replaces it', async () => {
    const all = await widgets({ version: { schema: schema(properties) } })
    const apply = (spec: JsonObject) => all.patch('a?fieldManager=me', all.object('a', { spec }), 'apply')
    expect((await apply({ kept: null })).json<Widget>().spec).toEqual({ kept: 3 })
    const rejected = await apply({ size: null })
    expect(rejected.status).toBe(422)
    expect(rejected.json().message).toContain(
      'spec.size: Invalid value: "null": spec.size in body must be of type integer: "null"',
    )
  })
})
