/** Reviews that no API server sends: webhooks listen on the network, and any pod can call them. */
import type { KubeObject } from '@reeve/kube'
import { expect, test } from 'vitest'
import { allow, deny } from './admission-review.ts'
import { mutatingWebhook, validatingWebhook } from './admission-webhook.ts'
import { conversionWebhook } from './conversion-webhook.ts'
import type { WebhookRoute } from './webhook-route.ts'
import { WebhookRouter } from './webhook-router.ts'

interface Answer {
  readonly response: {
    readonly uid: string
    readonly allowed?: boolean
    readonly status?: { readonly code: number; readonly message: string }
    readonly result?: { readonly status: string; readonly message?: string }
    readonly convertedObjects?: readonly unknown[]
    readonly warnings?: readonly string[]
  }
}

/** Sends the text of a review to a router with one route. */
function send(route: WebhookRoute, text: string): Promise<Answer> {
  return new WebhookRouter([route]).handleBytes(route.path, Buffer.from(text)) as Promise<Answer>
}

const METADATA = '{"namespace":"shop","name":"w"}'
const widget = (spec: string, metadata = METADATA) =>
  `{"apiVersion":"example.com/v1","kind":"Widget","metadata":${metadata},"spec":${spec}}`

function admission(object: string, fields = ''): string {
  const request = `"uid":"uid-1","kind":{},"resource":{},"operation":"CREATE",${fields}"object":${object}`
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{${request}}}`
}

function conversion(objects: string, desiredAPIVersion = 'example.com/v2'): string {
  const request = `"uid":"uid-1","desiredAPIVersion":${JSON.stringify(desiredAPIVersion)},"objects":${objects}`
  return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{${request}}}`
}

const approve = validatingWebhook('/v', () => allow())
const keepWidgets = conversionWebhook('/c', [
  { group: 'example.com', kind: 'Widget', convert: (object: KubeObject) => ({ ...object }) },
])

test.each([
  ['lists', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
])('an object with 20,000 nested %s is denied by a message that names the limit', async (_name, spec) => {
  for (const route of [approve, mutatingWebhook('/m', () => allow())]) {
    const { response } = await send(route, admission(widget(spec)))
    expect(response).toMatchObject({ uid: 'uid-1', allowed: false, status: { code: 400 } })
    expect(response.status?.message).toBe('the review is rejected: its JSON is nested deeper than 1000 levels')
  }
})

test('an object of 900 levels is reviewed', async () => {
  const spec = `${'['.repeat(900)}${']'.repeat(900)}`
  expect((await send(approve, admission(widget(spec)))).response).toEqual({ uid: 'uid-1', allowed: true })
})

test('an object with excessively many fields is denied', async () => {
  const spec = `{"list":[${'{},'.repeat(1_000_001)}{}]}`
  const { response } = await send(approve, admission(widget(spec)))
  expect(response).toMatchObject({ uid: 'uid-1', allowed: false, status: { code: 400 } })
  expect(response.status?.message).toContain('more than 1000000 objects, lists and fields')
})

test('objects of a conversion that are nested too deep fail the conversion', async () => {
  const { response } = await send(keepWidgets, conversion(`[${widget(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)}]`))
  expect(response).toMatchObject({ uid: 'uid-1', convertedObjects: [], result: { status: 'Failure' } })
  expect(response.result?.message).toContain('nested deeper than 1000 levels')
})

test('a deep text that is not a review is a bad request', async () => {
  await expect(send(approve, '['.repeat(20_000))).rejects.toMatchObject({ status: 400 })
  await expect(send(approve, `${'['.repeat(20_000)}${']'.repeat(20_000)}`)).rejects.toMatchObject({ status: 400 })
})

test.each([
  ['a string', '"x"', 'request.object: must be an object'],
  ['a number', '5', 'request.object: must be an object'],
  ['a list', '[]', 'request.object: must be an object'],
  ['true', 'true', 'request.object: must be an object'],
  ['false', 'false', 'request.object: must be an object'],
  ['without a kind', '{"apiVersion":"v1","metadata":{}}', 'request.object.kind: must be a string'],
  ['without a version', '{"kind":"Widget","metadata":{}}', 'request.object.apiVersion: must be a string'],
  ['without metadata', '{"apiVersion":"v1","kind":"Widget"}', 'request.object.metadata: must be an object'],
  ['with metadata of null', widget('{}', 'null'), 'request.object.metadata: must be an object'],
  ['with metadata that is text', widget('{}', '"x"'), 'request.object.metadata: must be an object'],
  ['with a number for a name', widget('{}', '{"name":5}'), 'request.object.metadata.name: must be a string'],
  ['with labels that are text', widget('{}', '{"labels":"x"}'), 'request.object.metadata.labels: must be an object'],
  [
    'with a label that is not a string',
    widget('{}', '{"labels":{"__proto__":{"a":1}}}'),
    'request.object.metadata.labels[__proto__]: must be a string',
  ],
  [
    'with an annotation that is not a string',
    widget('{}', '{"annotations":{"a":1}}'),
    'request.object.metadata.annotations[a]: must be a string',
  ],
  [
    'with finalizers that are not a list',
    widget('{}', '{"finalizers":"x"}'),
    'request.object.metadata.finalizers: must be a list',
  ],
  [
    'with an owner that is text',
    widget('{}', '{"ownerReferences":["x"]}'),
    'request.object.metadata.ownerReferences[0]: must be an object',
  ],
])('an object that is %s is denied before a handler sees it', async (_name, object, message) => {
  const { response } = await send(approve, admission(object))
  expect(response).toMatchObject({ uid: 'uid-1', allowed: false, status: { code: 400, message } })
})

test('an invalid old object is denied as well', async () => {
  const { response } = await send(approve, admission(widget('{}'), '"oldObject":"x",'))
  expect(response).toMatchObject({ allowed: false, status: { message: 'request.oldObject: must be an object' } })
})

test.each(['CREATE', 'UPDATE'])('a request to %s without an object is denied', async (operation) => {
  for (const object of ['null', 'null,"object":null']) {
    const { response } = await send(approve, admission(object).replace('CREATE', operation))
    const message = `request.object: is required to ${operation}`
    expect(response).toMatchObject({ allowed: false, status: { code: 400, message } })
  }
})

test('a deletion has no object', async () => {
  const text = admission('null', `"oldObject":${widget('{}')},`).replace('CREATE', 'DELETE')
  expect((await send(approve, text)).response).toEqual({ uid: 'uid-1', allowed: true })
})

test.each([
  ['an unknown operation', admission(widget('{}')).replace('CREATE', 'delete'), 'request.operation'],
  ['an operation that is a list', admission(widget('{}')).replace('"CREATE"', '["CREATE"]'), 'request.operation'],
  ['a namespace that is an object', admission(widget('{}'), '"namespace":{"a":1},'), 'request.namespace'],
  ['a name that is a number', admission(widget('{}'), '"name":5,'), 'request.name'],
  ['a subresource that is a list', admission(widget('{}'), '"subResource":[],'), 'request.subResource'],
])('a review with %s is a bad request', async (_name, text, field) => {
  await expect(send(approve, text)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(`${field} of the AdmissionReview must be`),
  })
})

test('options of a connection need no metadata', async () => {
  const options = '{"apiVersion":"v1","kind":"PodExecOptions","command":["sh"]}'
  const text = admission(options).replace('CREATE', 'CONNECT')
  expect((await send(approve, text)).response).toEqual({ uid: 'uid-1', allowed: true })
})

test.each([
  ['null', 'null'],
  ['text', '"x"'],
  ['a list', '[]'],
  ['something of another kind', '{}'],
])('a body that is %s is rejected with what was expected', async (_name, body) => {
  await expect(send(approve, body)).rejects.toMatchObject({
    status: 400,
    message: 'expected kind AdmissionReview in admission.k8s.io/v1',
  })
})

test('fields named like those of every JavaScript object reach the handler as fields', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
  const seen: unknown[] = []
  const route = validatingWebhook('/v', ({ object }) => {
    seen.push(Object.keys(object?.spec as object), Object.getPrototypeOf(object?.spec))
    return allow()
  })
  const { response } = await send(route, admission(widget(`{${names.map((name) => `"${name}":{"a":1}`).join()}}`)))
  expect(response.allowed).toBe(true)
  expect(seen).toEqual([names, Object.prototype])
})

test('a mutation adds a field named __proto__ without touching a prototype', async () => {
  const route = mutatingWebhook('/m', ({ object }) => ({
    allowed: true,
    object: { ...object, metadata: { ...object?.metadata }, spec: JSON.parse('{"__proto__":{"a":1}}') } as never,
  }))
  const { response } = await send(route, admission(widget('{}')))
  const patch = Buffer.from((response as { patch?: string }).patch ?? '', 'base64').toString()
  expect(patch).toBe('[{"op":"add","path":"/spec/__proto__","value":{"a":1}}]')
})

test('a denial quotes only a short part of what was sent', async () => {
  const route = validatingWebhook('/v', () =>
    deny('x'.repeat(1_000_000), {
      causes: Array.from({ length: 10_000 }, () => ({ field: 'f'.repeat(10_000), message: 'm'.repeat(10_000) })),
      warnings: Array.from({ length: 10_000 }, () => 'w'.repeat(10_000)),
    }),
  )
  const { response } = await send(route, admission(widget('{}')))
  expect(response.status?.message).toHaveLength(8_192)
  expect(response.status?.message.endsWith('…')).toBe(true)
  expect(JSON.stringify(response).length).toBeLessThan(400_000)
})

test.each([
  ['', 'v1'],
  ['no group', 'v2'],
  ['too many parts', 'example.com/v2/../../secrets'],
  ['no version', 'example.com/'],
  ['a property of every object', '__proto__/constructor'],
  ['a megabyte', `example.com/${'v'.repeat(1_000_000)}/`],
])('a conversion into an invalid version fails: %s', async (_name, desiredAPIVersion) => {
  const { response } = await send(keepWidgets, conversion(`[${widget('{}')}]`, desiredAPIVersion))
  expect(response).toMatchObject({ convertedObjects: [], result: { status: 'Failure' } })
  expect(response.result?.message?.length).toBeLessThan(3_000)
})

test.each([
  ['text', '"x"', 'request.objects[1]: must be an object'],
  ['null', 'null', 'request.objects[1]: must be an object'],
  ['without metadata', '{"apiVersion":"v1","kind":"Widget"}', 'request.objects[1].metadata: must be an object'],
  [
    'with a name that cannot become text',
    widget('{}', '{"name":{"toString":1}}'),
    'request.objects[1].metadata.name: must be a string',
  ],
])('a conversion of something that is %s fails and says which it is', async (_name, object, message) => {
  const { response } = await send(keepWidgets, conversion(`[${widget('{}')},${object}]`))
  expect(response).toMatchObject({ uid: 'uid-1', convertedObjects: [], result: { status: 'Failure', message } })
})

test('a conversion of very many objects does not block other requests', async () => {
  let converted = 0
  const route = conversionWebhook('/c', [
    {
      group: 'example.com',
      kind: 'Widget',
      convert: (object) => {
        converted++
        const until = performance.now() + 1
        while (performance.now() < until);
        return { ...object }
      },
    },
  ])
  const router = new WebhookRouter([route, approve])
  const many = router.handleBytes('/c', Buffer.from(conversion(`[${Array(500).fill(widget('{}')).join()}]`)))
  const convertedBefore = await new Promise<number>((resolve) => setImmediate(() => resolve(converted)))
  expect(await router.handleBytes('/v', Buffer.from(admission(widget('{}'))))).toMatchObject({
    response: { uid: 'uid-1' },
  })
  expect(convertedBefore).toBeLessThan(500)
  const { response } = (await many) as Answer
  expect(response.convertedObjects).toHaveLength(500)
})

test('a conversion of very many objects ends when the API server aborts it', async () => {
  const gone = new AbortController()
  let converted = 0
  const route = conversionWebhook('/c', [
    {
      group: 'example.com',
      kind: 'Widget',
      convert: (object) => {
        converted++
        const until = performance.now() + 1
        while (performance.now() < until);
        return { ...object }
      },
    },
  ])
  const body = Buffer.from(conversion(`[${Array(500).fill(widget('{}')).join()}]`))
  const answer = new WebhookRouter([route]).handleBytes('/c', body, { signal: gone.signal })
  setImmediate(() => gone.abort())
  await expect(answer).rejects.toMatchObject({ status: 499 })
  expect(converted).toBeLessThan(500)
})
