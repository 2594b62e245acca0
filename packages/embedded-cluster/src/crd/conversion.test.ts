import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startWebhookServer } from '../admission/testing/webhook-server.ts'
import { WebhookClient } from '../admission/webhook-client.ts'
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'
import { Converter } from './conversion.ts'
import { readDefinition } from './definition.ts'
import { definition, version } from './testing/definitions.ts'

const signal = new AbortController().signal
const clientConfig = { service: { namespace: 'sys', name: 'conv', path: '/convert' } }

function converter(answer: (review: JsonObject) => unknown, conversion: JsonObject = { strategy: 'Webhook' }) {
  const reviews: JsonObject[] = []
  const crd = definition({
    spec: {
      versions: [version('v1', { storage: true }), version('v2')],
      conversion: { webhook: { clientConfig, conversionReviewVersions: ['v1'] }, ...conversion },
    },
  })
  const client = new WebhookClient({
    callWebhook: ({ review }) => {
      reviews.push(review)
      return Promise.resolve().then(() => answer(review))
    },
  })
  const known = readDefinition(crd)
  const definitionOfKind = (group: string, kind: string) =>
    group === 'example.com' && kind === 'Widget' ? known : undefined
  return { reviews, converter: new Converter({ client, definitionOfKind, randomUuid: () => 'uid-1' }) }
}

const widget = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, generation: 3, labels: { a: 'b' } },
  spec: { a: 1 },
  ...more,
})

/** Converts correctly, then applies `change` to each object. */
function answering(change: (object: JsonObject) => JsonObject = (object) => object) {
  return (review: JsonObject) => {
    const request = objectAt(review, 'request')
    const objects = Array.isArray(request.objects) ? request.objects.filter(isJsonObject) : []
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: {
        uid: request.uid,
        result: { status: 'Success' },
        convertedObjects: objects.map((object) => change({ ...object, apiVersion: request.desiredAPIVersion })),
      },
    }
  }
}

describe('conversion without a webhook', () => {
  it('rewrites the version and nothing else', async () => {
    const { converter: none, reviews } = converter(() => undefined, { strategy: 'None' })
    expect(await none.convert([widget('a')], 'example.com/v2', signal)).toEqual([
      { ...widget('a'), apiVersion: 'example.com/v2' },
    ])
    expect(reviews).toEqual([])
  })

  it('there and back returns the same objects', async () => {
    const { converter: none } = converter(() => undefined, { strategy: 'None' })
    const object = fc.dictionary(fc.string(), fc.jsonValue()).map((spec) => widget('a', { spec: spec as JsonObject }))
    await fc.assert(
      fc.asyncProperty(fc.array(object, { maxLength: 3 }), async (objects) => {
        const there = await none.convert(objects, 'example.com/v2', signal)
        expect(await none.convert(there, 'example.com/v1', signal)).toEqual(objects)
      }),
      { numRuns: 30 },
    )
  })

  it('rejects a version that the definition does not have', async () => {
    const { converter: none } = converter(() => undefined, { strategy: 'None' })
    await expect(none.convert([widget('a')], 'example.com/v9', signal)).rejects.toMatchObject({ code: 500 })
  })
})

describe('a conversion webhook', () => {
  it('is called once for all objects that need conversion, and the order is kept', async () => {
    const { converter: asking, reviews } = converter(answering((object) => ({ ...object, spec: { converted: true } })))
    const done = { ...widget('done'), apiVersion: 'example.com/v2' }
    const converted = await asking.convert([widget('a'), done, widget('b')], 'example.com/v2', signal)
    expect(reviews).toEqual([
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        request: { uid: 'uid-1', desiredAPIVersion: 'example.com/v2', objects: [widget('a'), widget('b')] },
      },
    ])
    expect(converted.map((object) => [objectAt(object, 'metadata').name, objectAt(object, 'spec').converted])).toEqual([
      ['a', true],
      ['done', undefined],
      ['b', true],
    ])
  })

  it('is not called when there is nothing to convert', async () => {
    const { converter: asking, reviews } = converter(answering())
    await asking.convert([widget('a')], 'example.com/v1', signal)
    await asking.convert([], 'example.com/v2', signal)
    expect(reviews).toEqual([])
  })

  it('may change labels and annotations, but no other metadata', async () => {
    const metadata = { labels: { c: 'd' }, annotations: { e: 'f' }, generation: 99, finalizers: ['x/y'] }
    const { converter: asking } = converter(
      answering((object) => ({ ...object, metadata: { ...objectAt(object, 'metadata'), ...metadata } })),
    )
    const [converted] = await asking.convert([widget('a')], 'example.com/v2', signal)
    expect(converted?.metadata).toEqual({
      name: 'a',
      namespace: 'ns',
      uid: 'uid-a',
      generation: 3,
      labels: { c: 'd' },
      annotations: { e: 'f' },
    })
  })

  const meta = (change: JsonObject) =>
    answering((object) => ({ ...object, metadata: { ...objectAt(object, 'metadata'), ...change } }))
  const response = (change: JsonObject) => (review: JsonObject) => {
    const honest = answering()(review)
    return { ...honest, response: { ...honest.response, ...change } }
  }

  // Recorded from a real API server.
  it.each<[string, (review: JsonObject) => unknown, string]>([
    ['another name', meta({ name: 'zz' }), 'returned invalid object: must have the same name: a != zz'],
    ['another namespace', meta({ namespace: 'zz' }), 'returned invalid object: must have the same namespace: ns != zz'],
    ['another uid', meta({ uid: 'zz' }), 'returned invalid object: must have the same UID: uid-a != zz'],
    [
      'labels that are not strings',
      meta({ labels: { a: 1 } }),
      'returned invalid metadata: metadata.labels[a] must be a string',
    ],
    [
      'invalid labels',
      meta({ labels: { 'a b': 'x' } }),
      'returned invalid metadata: metadata.labels: Invalid value: "a b": name part must consist of',
    ],
    ['labels that are a list', meta({ labels: [] }), 'returned invalid metadata: metadata.labels must be a map'],
    [
      'another kind',
      answering((object) => ({ ...object, kind: 'Foo' })),
      'returned invalid object at index 0: invalid kind (expected Widget, received Foo)',
    ],
    [
      'another version',
      answering((object) => ({ ...object, apiVersion: 'example.com/v1' })),
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)',
    ],
    ['fewer objects', response({ convertedObjects: [] }), 'returned 0 objects, expected 1'],
    ['null', response({ convertedObjects: [null] }), 'returned invalid object at index 0: not an object'],
    ['a failure', response({ result: { status: 'Failure', message: 'cannot' } }), 'failed: cannot'],
    [
      'a failure without a message',
      response({ result: { status: 'Failure' } }),
      "failed: response.result.status was 'Failure', not 'Success'",
    ],
    ['no result', response({ result: undefined }), "failed: response.result.status was '', not 'Success'"],
    ['another review', response({ uid: 'x' }), 'failed: expected response.uid="uid-1", got "x"'],
    [
      'a uid that is not a string',
      response({ uid: { toString: {} } }),
      'failed: expected response.uid="uid-1", got ""',
    ],
    [
      'a status that is not a string',
      response({ result: { status: [{ toString: 1 }] } }),
      "failed: response.result.status was ''",
    ],
    [
      'a name that is not a string',
      meta({ name: { toString: {} } }),
      'returned invalid object: must have the same name: a != ',
    ],
    [
      'no response',
      () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }),
      'failed: no response provided',
    ],
    ['nothing', () => null, "failed: couldn't get version/kind; json parse error"],
    [
      'an exception',
      () => Promise.reject(new Error('boom')),
      'failed: Post "https://conv.sys.svc:443/convert?timeout=30s": boom',
    ],
  ])('that responds with %s fails the request', async (_, answer, message) => {
    const { converter: asking } = converter(answer)
    const failing = asking.convert([widget('a')], 'example.com/v2', signal)
    await expect(failing).rejects.toMatchObject({ code: 500, reason: '' })
    await expect(failing).rejects.toThrow(`conversion webhook for example.com/v1, Kind=Widget ${message}`)
  })

  it('is called over verified TLS', async () => {
    await using server = await startWebhookServer(['conv.sys.svc'], answering())
    const client = new WebhookClient({ resolveService: () => ({ host: '127.0.0.1', port: server.port }) })
    const webhook = { clientConfig: { ...clientConfig, caBundle: server.caBundle }, conversionReviewVersions: ['v1'] }
    const versions = [version('v1', { storage: true }), version('v2')]
    const crd = definition({ spec: { versions, conversion: { strategy: 'Webhook', webhook } } })
    const asking = new Converter({ client, definitionOfKind: () => readDefinition(crd) })
    const [converted] = await asking.convert([widget('a')], 'example.com/v2', signal)
    expect(converted).toEqual({ ...widget('a'), apiVersion: 'example.com/v2' })
    await client.close()
  })
})
