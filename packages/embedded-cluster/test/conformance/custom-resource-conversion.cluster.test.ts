/** Conversion webhooks: objects of one version read and written in another. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ApiResource } from './support/api-resource.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import {
  DEFINITIONS,
  defineWidgets,
  removeDefinition,
  schemaOf,
  uniqueGroup,
  untilServed,
  versionOf,
} from './support/custom-resource.ts'
import { failure } from './support/status.ts'
import { until } from './support/until.ts'
import { startWebhook, type WebhookServer } from './support/webhook-server.ts'

const api = ConformanceApi.forThisFile()
const text = { type: 'string' }

/** The conversion of one object; `v1` has `spec.size` where `v2` has `spec.dimensions`. */
function converted(object: Json, apiVersion: string): Json {
  const { size, dimensions, ...spec } = object.spec ?? {}
  if (apiVersion.endsWith('/v2')) {
    const [width, height] = (size ?? '').split('x')
    return { ...object, apiVersion, spec: { ...spec, ...(size !== undefined && { dimensions: { width, height } }) } }
  }
  const joined = dimensions === undefined ? {} : { size: `${dimensions.width}x${dimensions.height}` }
  return { ...object, apiVersion, spec: { ...spec, ...joined } }
}

const success = ({ request }: Json, change: (object: Json) => Json = (object) => object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  response: {
    uid: request.uid,
    result: { status: 'Success' },
    convertedObjects: request.objects.map((object: Json) => change(converted(object, request.desiredAPIVersion))),
  },
})

let group: string
let v1: ApiResource
let v2: ApiResource
let webhook: WebhookServer
const state: { handler: (review: Json) => unknown } = { handler: success }

beforeAll(async () => {
  group = uniqueGroup()
  webhook = await startWebhook((review) => state.handler(review))
  const versions = [
    versionOf('v1', { storage: true, schema: schemaOf({ size: text, note: { ...text, default: 'stored' } }) }),
    versionOf('v2', {
      schema: schemaOf({
        dimensions: { type: 'object', properties: { width: text, height: text } },
        note: { ...text, default: 'asked' },
      }),
    }),
  ]
  const clientConfig = { url: `${webhook.url}/convert`, caBundle: webhook.caBundle }
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
  v1 = await defineWidgets(api, { group, versions, spec: { conversion } })
  v2 = v1.at({ apiVersion: `${group}/v2` })
  await untilServed(v2)
})
afterAll(async () => {
  state.handler = success
  await removeDefinition(api, group)
  await webhook[Symbol.asyncDispose]()
})
beforeEach(() => {
  state.handler = success
  webhook.calls.length = 0
})

describe('an object', () => {
  it('is converted when it is read in another version', async () => {
    const created = await v1.given('read', { spec: { size: '3x4' } })
    webhook.calls.length = 0
    const { body } = await v2.get('read')
    expect(body).toMatchObject({
      apiVersion: `${group}/v2`,
      metadata: { uid: created.metadata.uid, resourceVersion: created.metadata.resourceVersion },
      spec: { dimensions: { width: '3', height: '4' }, note: 'stored' },
    })
    // A server may call it more often, for its own caches.
    expect(webhook.calls).toContainEqual({
      path: expect.stringMatching(/^\/convert\?timeout=\d+s$/),
      review: expect.objectContaining({
        kind: 'ConversionReview',
        apiVersion: 'apiextensions.k8s.io/v1',
        request: {
          uid: expect.any(String),
          desiredAPIVersion: `${group}/v2`,
          objects: [expect.objectContaining({ apiVersion: `${group}/v1`, spec: { size: '3x4', note: 'stored' } })],
        },
      }),
    })
  })

  it('is converted before it is stored, and back for the response', async () => {
    const { status, body } = await v2.create('written', { spec: { dimensions: { width: '5', height: '6' } } })
    expect(status).toBe(201)
    expect(body).toMatchObject({ apiVersion: `${group}/v2`, spec: { dimensions: { width: '5', height: '6' } } })
    expect((await v1.get('written')).body.spec).toEqual({ size: '5x6', note: 'asked' })
  })

  it('is patched in the version of the request', async () => {
    await v1.given('patched', { spec: { size: '3x4' } })
    const { body } = await v2.patch('merge', 'patched', { spec: { dimensions: { height: '9' } } })
    expect(body.spec.dimensions).toEqual({ width: '3', height: '9' })
    expect((await v1.get('patched')).body.spec.size).toBe('3x9')
  })

  it('may get labels and annotations from the conversion', async () => {
    await v1.given('labelled', { spec: { size: '3x4' } })
    state.handler = (review) =>
      success(review, (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { a: 'b' }, annotations: { c: 'd' } },
      }))
    const { body } = await v2.get('labelled')
    expect(body.metadata).toMatchObject({ labels: { a: 'b' }, annotations: { c: 'd' } })
  })

  it('keeps the rest of its metadata whatever the webhook returns', async () => {
    const { metadata } = await v1.given('identity', { metadata: { finalizers: ['example.com/a'] } })
    state.handler = (review) =>
      success(review, (object) => ({
        ...object,
        metadata: { ...object.metadata, finalizers: [], generation: 99, resourceVersion: '1' },
      }))
    const { body } = await v2.get('identity')
    expect(body.metadata).toMatchObject({
      finalizers: ['example.com/a'],
      generation: 1,
      resourceVersion: metadata.resourceVersion,
    })
    await v1.patch('merge', 'identity', { metadata: { finalizers: null } })
  })

  it('loses fields that its new version does not have', async () => {
    await v1.given('pruned', { spec: { size: '3x4' } })
    state.handler = (review) => success(review, (object) => ({ ...object, spec: { ...object.spec, color: 'red' } }))
    expect((await v2.get('pruned')).body.spec).toEqual({ dimensions: { width: '3', height: '4' }, note: 'stored' })
  })
})

describe('a list', () => {
  it('is converted object by object', async () => {
    const label = 'listed'
    for (const name of ['a', 'b', 'c']) {
      await v1.given(`${label}-${name}`, { metadata: { labels: { label } }, spec: { size: '1x2' } })
    }
    const { body } = await v2.list({ query: `labelSelector=label%3D${label}` })
    expect(body.items.map(({ apiVersion, spec }: Json) => [apiVersion, spec.dimensions])).toEqual(
      Array.from({ length: 3 }, () => [`${group}/v2`, { width: '1', height: '2' }]),
    )
  })
})

describe('a watch', () => {
  it('is converted event by event', async () => {
    const { body } = await v2.list()
    await v1.given('watched', { spec: { size: '7x8' } })
    const query = `watch=true&timeoutSeconds=1&resourceVersion=${body.metadata.resourceVersion}`
    const lines = await api.watchToEnd(v2.path(undefined, { query }))
    expect(lines.map(({ type, object }) => [type, object.apiVersion, object.spec.dimensions])).toEqual([
      ['ADDED', `${group}/v2`, { width: '7', height: '8' }],
    ])
  })
})

describe('a conversion fails', () => {
  beforeAll(async () => {
    await v1.given('failing', { spec: { size: '3x4' } })
  })

  const respondWith = (change: (review: Json) => Json) => (review: Json) => change(success(review))
  it.each<[string, (review: Json) => unknown, string]>([
    [
      'when the webhook reports a failure',
      respondWith((review) => ({
        ...review,
        response: { uid: review.response.uid, result: { status: 'Failed', message: 'cannot be done' } },
      })),
      'failed: cannot be done',
    ],
    [
      'when the webhook responds with another uid',
      respondWith((review) => ({ ...review, response: { ...review.response, uid: 'other' } })),
      'failed: expected response.uid=',
    ],
    [
      'when the webhook omits an object',
      respondWith((review) => ({ ...review, response: { ...review.response, convertedObjects: [] } })),
      'returned 0 objects, expected 1',
    ],
    [
      'when the webhook returns another version',
      (review) => success(review, (object) => ({ ...object, apiVersion: `${group}/v1` })),
      'returned invalid object at index 0: invalid groupVersion (expected',
    ],
    [
      'when the webhook returns another kind',
      (review) => success(review, (object) => ({ ...object, kind: 'Gadget' })),
      'returned invalid object at index 0: invalid kind (expected Widget, received Gadget)',
    ],
    [
      'when the webhook returns another object',
      (review) => success(review, (object) => ({ ...object, metadata: { ...object.metadata, name: 'other' } })),
      'returned invalid object: must have the same name: failing != other',
    ],
    [
      'when the webhook does not respond with a review',
      () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }),
      'failed: no response provided',
    ],
  ])('%s', async (_, handler, message) => {
    state.handler = handler
    const { status, body } = await v2.get('failing')
    expect(status).toBe(500)
    expect(body).toEqual(failure({ code: 500, message: expect.any(String) }))
    expect(body.message).toContain(`conversion webhook for ${group}/v1, Kind=Widget ${message}`)
  })

  it('without writing anything', async () => {
    state.handler = () => 'no JSON'
    const { status } = await v2.create('unwritten')
    expect(status).toBe(500)
    expect((await v1.get('unwritten')).status).toBe(404)
  })
})

it('an object keeps its fields when another version becomes the one that is stored', async () => {
  await v1.given('stored-before', { spec: { size: '3x4' } })
  const path = `${DEFINITIONS}/widgets.${group}`
  const { body } = await api.get(path)
  const versions = body.spec.versions.map((version: Json) => ({ ...version, storage: version.name === 'v2' }))
  expect((await api.patch(path, { spec: { versions } })).status).toBe(200)
  expect((await v2.get('stored-before')).body.spec.dimensions).toEqual({ width: '3', height: '4' })
  expect((await v1.get('stored-before')).body.spec.size).toBe('3x4')
})

it('an object that is written unchanged is stored in the current version, and then read without the webhook', async () => {
  const path = `${DEFINITIONS}/widgets.${group}`
  const store = async (name: string) => {
    const { body } = await api.get(path)
    const versions = body.spec.versions.map((version: Json) => ({ ...version, storage: version.name === name }))
    expect((await api.patch(path, { spec: { versions } })).status).toBe(200)
  }
  await store('v1')
  await v1.given('moved', { spec: { size: '3x4' } })
  await store('v2')
  // A real server learns of the change a moment later.
  await until('the object is stored in v2', async () => {
    state.handler = success
    const { body } = await v2.get('moved')
    expect((await v2.replace('moved', body)).status).toBe(200)
    state.handler = () => 'no JSON'
    return (await v2.get('moved')).status === 200
  })
  expect((await v2.get('moved')).body.spec.dimensions).toEqual({ width: '3', height: '4' })
})
