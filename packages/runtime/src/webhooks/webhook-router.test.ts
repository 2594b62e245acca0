import { sleep } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import type { KubeObject } from '@reeve/kube'
import { expect, test } from 'vitest'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { allow, deny, mutate } from './admission-review.ts'
import { mutatingWebhook, validatingWebhook } from './admission-webhook.ts'
import { conversionWebhook } from './conversion-webhook.ts'
import { BadReviewError, type WebhookRoute } from './webhook-route.ts'
import { WebhookRouter, type WebhookRouterOptions } from './webhook-router.ts'

interface Widget extends KubeObject {
  readonly spec: { readonly size: number; readonly color?: string }
}

const widget = (size = 1): Widget => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { namespace: 'shop', name: 'w' },
  spec: { size },
})

function admissionReview(request: Record<string, unknown> = {}) {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'uid-1',
      kind: { group: 'example.com', version: 'v1', kind: 'Widget' },
      resource: { group: 'example.com', version: 'v1', resource: 'widgets' },
      operation: 'CREATE',
      userInfo: { username: 'jane' },
      object: widget(),
      oldObject: null,
      ...request,
    },
  }
}

interface Answer {
  readonly apiVersion: string
  readonly kind: string
  readonly response: Record<string, unknown>
}

/** Sends a review to a router with one route. */
function ask(route: WebhookRoute, body: unknown, options?: WebhookRouterOptions): Promise<Answer> {
  return new WebhookRouter([route], options).handle(route.path, body) as Promise<Answer>
}

const patchOf = ({ response }: Answer) =>
  JSON.parse(Buffer.from(String(response.patch), 'base64').toString()) as unknown

test('an approval echoes the uid and carries warnings on one line', async () => {
  const route = validatingWebhook('/v', () => allow(['the tag latest\nmakes roll-backs impossible']))
  expect(await ask(route, admissionReview())).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'uid-1', allowed: true, warnings: ['the tag latest makes roll-backs impossible'] },
  })
})

test('a denial carries message, code, reason and the fields that are wrong', async () => {
  const causes = [{ field: 'spec.size', message: 'must be at most 10', reason: 'FieldValueInvalid' }]
  const route = validatingWebhook<Widget>('/v', ({ object }) =>
    (object?.spec.size ?? 0) > 10
      ? deny('spec.size: must be at most 10', { code: 422, reason: 'Invalid', causes })
      : allow(),
  )
  const { response } = await ask(route, admissionReview({ object: widget(11) }))
  expect(response).toEqual({
    uid: 'uid-1',
    allowed: false,
    status: {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      message: 'spec.size: must be at most 10',
      reason: 'Invalid',
      code: 422,
      details: { causes },
    },
  })
  expect((await ask(route, admissionReview())).response.allowed).toBe(true)
})

test('a mutation becomes the smallest patch, and an unchanged object none', async () => {
  const route = mutatingWebhook<Widget>('/m', ({ object }) =>
    object === undefined ? allow() : mutate({ ...object, spec: { color: 'red', ...object.spec } } as Widget),
  )
  const changed = await ask(route, admissionReview())
  expect(changed.response).toMatchObject({ allowed: true, patchType: 'JSONPatch' })
  expect(patchOf(changed)).toEqual([{ op: 'add', path: '/spec/color', value: 'red' }])
  const unchanged = await ask(route, admissionReview({ object: { ...widget(), spec: { size: 1, color: 'blue' } } }))
  expect(unchanged.response).toEqual({ uid: 'uid-1', allowed: true })
})

test('a patch of the handler is passed on unchanged', async () => {
  const patch = [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }] as const
  expect(
    patchOf(
      await ask(
        mutatingWebhook('/m', () => ({ allowed: true, patch })),
        admissionReview(),
      ),
    ),
  ).toEqual(patch)
})

test('a validating webhook cannot return a patch', async () => {
  const route = validatingWebhook('/v', () => mutate(widget(5)))
  expect((await ask(route, admissionReview())).response).toEqual({ uid: 'uid-1', allowed: true })
})

test('a handler that changes the object in place fails loudly instead of having no effect', async () => {
  const route = mutatingWebhook('/m', ({ object }) => {
    Object.assign(object?.spec as object, { size: 2 })
    return allow()
  })
  expect((await ask(route, admissionReview())).response).toMatchObject({ allowed: false, status: { code: 500 } })
})

test('a deletion has an old object and no new one', async () => {
  let seen: unknown
  const route = validatingWebhook('/v', ({ object, oldObject, operation }) => {
    seen = { object, oldObject, operation }
    return allow()
  })
  await ask(route, admissionReview({ operation: 'DELETE', object: null, oldObject: widget() }))
  expect(seen).toEqual({ object: undefined, oldObject: widget(), operation: 'DELETE' })
})

test('an exception becomes a denial that does not reveal its cause', async () => {
  const route = validatingWebhook('/v', () => {
    throw new Error('password hunter2 refused by db.internal')
  })
  const answer = await ask(route, admissionReview())
  expect(answer.response).toMatchObject({
    uid: 'uid-1',
    allowed: false,
    status: { code: 500, reason: 'InternalError', message: expect.stringContaining('see the log of the operator') },
  })
  expect(JSON.stringify(answer)).not.toMatch(/hunter2|db\.internal/)
})

test('a handler that hangs is aborted, and the request fails within its timeout', async () => {
  const clock = new SimulatedClock()
  let isStopped = false
  const route = validatingWebhook('/v', (_request, signal) => {
    signal.addEventListener('abort', () => {
      isStopped = true
    })
    return new Promise(() => undefined)
  })
  const router = new WebhookRouter([route], { clock })
  const answer = await clock.runToCompletion(router.handle('/v', admissionReview(), { timeoutMs: 4_000 }))
  expect(answer).toMatchObject({ response: { uid: 'uid-1', allowed: false, status: { code: 504, reason: 'Timeout' } } })
  expect(isStopped).toBe(true)
  expect(clock.now()).toBe(new SimulatedClock().now() + 4_000)
})

test('the timeout of the router applies even if the caller would wait longer', async () => {
  const clock = new SimulatedClock()
  const router = new WebhookRouter([validatingWebhook('/v', () => new Promise(() => undefined))], { clock })
  await clock.runToCompletion(router.handle('/v', admissionReview(), { timeoutMs: 30_000 }))
  expect(clock.now()).toBe(new SimulatedClock().now() + 9_000)
})

test('no more handlers run concurrently than allowed; the others wait', async () => {
  const clock = new SimulatedClock()
  let [running, most] = [0, 0]
  const route = validatingWebhook('/v', async () => {
    most = Math.max(most, ++running)
    await sleep(100, { clock })
    running--
    return allow()
  })
  const router = new WebhookRouter([route], { clock, maxConcurrent: 3 })
  const answers = Array.from({ length: 10 }, () => router.handle('/v', admissionReview()))
  const results = (await clock.runToCompletion(Promise.all(answers))) as Answer[]
  expect(results.every(({ response }) => response.allowed)).toBe(true)
  expect(most).toBe(3)
})

test('a path whose handlers are all busy does not hold up another path', async () => {
  const clock = new SimulatedClock()
  const routes = [validatingWebhook('/v', () => new Promise(() => undefined)), validatingWebhook('/w', () => allow())]
  const router = new WebhookRouter(routes, { clock, maxConcurrent: 1 })
  const stuck = router.handle('/v', admissionReview())
  expect(await router.handle('/w', admissionReview())).toMatchObject({ response: { allowed: true } })
  expect(await clock.runToCompletion(stuck)).toMatchObject({ response: { allowed: false } })
})

test('a request that waits too long is rejected', async () => {
  const clock = new SimulatedClock()
  const hang = validatingWebhook('/v', () => new Promise(() => undefined))
  const router = new WebhookRouter([hang], { clock, maxConcurrent: 1 })
  const answers = [router.handle('/v', admissionReview()), router.handle('/v', admissionReview())]
  const [, second] = (await clock.runToCompletion(Promise.all(answers))) as Answer[]
  expect(second?.response).toMatchObject({ allowed: false, status: { code: 504 } })
})

test('requests beyond the limit are rejected with 503, so that the failure policy decides', async () => {
  const clock = new SimulatedClock()
  const router = new WebhookRouter([validatingWebhook('/v', () => new Promise(() => undefined))], {
    clock,
    maxConcurrent: 1,
  })
  for (let turn = 0; turn < 1_001; turn++) void router.handle('/v', admissionReview())
  await clock.settle()
  await expect(router.handle('/v', admissionReview())).rejects.toMatchObject({ code: 'BAD_REVIEW', status: 503 })
})

test.each([
  ['not an object', 'text'],
  ['another kind', { ...admissionReview(), kind: 'ConversionReview' }],
  ['another version', { ...admissionReview(), apiVersion: 'admission.k8s.io/v1beta1' }],
  ['no request', { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }],
  ['no uid', admissionReview({ uid: '' })],
  ['no operation', admissionReview({ operation: null })],
])('a body that is not a review is rejected as a bad request: %s', async (_name, body) => {
  await expect(
    ask(
      validatingWebhook('/v', () => allow()),
      body,
    ),
  ).rejects.toMatchObject({ status: 400 })
})

test('an unknown path is not found', async () => {
  const router = new WebhookRouter([validatingWebhook('/v', () => allow())])
  await expect(router.handle('/other', admissionReview())).rejects.toThrow(BadReviewError)
  await expect(router.handle('/other', admissionReview())).rejects.toMatchObject({ status: 404 })
})

test('paths are unique and valid', () => {
  const route = validatingWebhook('/v', () => allow())
  expect(() => new WebhookRouter([route, route])).toThrow('two webhooks have the path /v')
  expect(() => new WebhookRouter([validatingWebhook('v?x', () => allow())])).toThrow('is not a valid path of a webhook')
})

test('requests are counted and timed by path', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  const router = new WebhookRouter([validatingWebhook('/v', () => allow())], { metrics })
  await router.handle('/v', admissionReview())
  await router.handle('/v', {}).catch(() => undefined)
  const text = await metrics.expose()
  expect(text).toContain('controller_runtime_webhook_requests_total{webhook="/v",code="200"} 1')
  expect(text).toContain('controller_runtime_webhook_requests_total{webhook="/v",code="400"} 1')
  expect(text).toContain('controller_runtime_webhook_requests_in_flight{webhook="/v"} 0')
  expect(text).toContain('controller_runtime_webhook_latency_seconds_count{webhook="/v"} 2')
})

function conversionReview(objects: readonly unknown[], desiredAPIVersion = 'example.com/v2') {
  const request = { uid: 'uid-1', desiredAPIVersion, objects }
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request }
}

const conversion = (convert: (object: KubeObject, toVersion: string) => KubeObject) =>
  conversionWebhook('/c', [{ group: 'example.com', kind: 'Widget', convert }])

test('objects are converted in order, with their metadata kept except labels and annotations', async () => {
  const stored = { namespace: 'shop', uid: 'u', resourceVersion: '5', creationTimestamp: '2030-01-01T00:00:00Z' }
  const objects = ['b', 'a'].map((name) => ({
    ...widget(),
    metadata: { ...stored, name, labels: { old: 'yes' }, annotations: { gone: 'yes' } },
  }))
  const route = conversion((object, toVersion) => ({
    ...object,
    apiVersion: 'wrong/v0',
    metadata: { name: 'changed', labels: { to: toVersion } },
  }))
  const { response } = await ask(route, conversionReview(objects))
  expect(response).toEqual({
    uid: 'uid-1',
    result: { status: 'Success' },
    convertedObjects: ['b', 'a'].map((name) => ({
      apiVersion: 'example.com/v2',
      kind: 'Widget',
      metadata: { ...stored, name, labels: { to: 'v2' } },
      spec: { size: 1 },
    })),
  })
})

test('converters that return promises and those that do not may mix, and order is kept', async () => {
  const route = conversionWebhook('/c', [
    {
      group: 'example.com',
      kind: 'Widget',
      convert: (object) => ((object as Widget).spec.size % 2 === 0 ? Promise.resolve(object) : object),
    },
  ])
  const { response } = await ask(route, conversionReview([widget(1), widget(2), widget(3), widget(4)]))
  expect(response).toMatchObject({ convertedObjects: [1, 2, 3, 4].map((size) => ({ spec: { size } })) })
})

test('a converter whose promise is rejected fails the review and the object is named', async () => {
  const convert = () => Promise.reject(new Error('size does not fit'))
  const route = conversionWebhook('/c', [{ group: 'example.com', kind: 'Widget', convert }])
  const { response } = await ask(route, conversionReview([widget()]))
  const message = 'cannot convert Widget shop/w from example.com/v1 to example.com/v2: size does not fit'
  expect(response).toMatchObject({ result: { status: 'Failure', message } })
})

test('one object that cannot be converted fails the review and is named', async () => {
  const route = conversion((object) => {
    if ((object as Widget).spec.size > 1) throw new Error('size does not fit; token=Bearer abcdefghij')
    return object
  })
  const { response } = await ask(route, conversionReview([widget(), widget(2)]))
  expect(response).toMatchObject({ uid: 'uid-1', convertedObjects: [], result: { status: 'Failure' } })
  const { message } = response.result as { message: string }
  expect(message).toContain('cannot convert Widget shop/w from example.com/v1 to example.com/v2: size does not fit')
  expect(message).not.toContain('abcdefghij')
})

test('a kind that the webhook does not know fails the review', async () => {
  const { response } = await ask(
    conversion((object) => object),
    conversionReview([{ ...widget(), kind: 'Gadget' }]),
  )
  expect(response.result).toMatchObject({ status: 'Failure', message: expect.stringContaining('Gadget shop/w') })
})

test('a conversion that hangs is reported as a failure', async () => {
  const clock = new SimulatedClock()
  const route = conversionWebhook('/c', [
    { group: 'example.com', kind: 'Widget', convert: () => new Promise<never>(() => undefined) },
  ])
  const answer = await clock.runToCompletion(ask(route, conversionReview([widget()]), { clock }))
  expect(answer.response).toMatchObject({ uid: 'uid-1', result: { status: 'Failure' } })
})

test('a conversion review without objects is a bad request', async () => {
  const route = conversion((object) => object)
  await expect(ask(route, conversionReview(null as never))).rejects.toMatchObject({ status: 400 })
})

test('an approval carries its message with code 200', async () => {
  const route = mutatingWebhook('/m', () => ({ allowed: true, message: 'nothing to change' }))
  const { response } = await ask(route, admissionReview())
  expect(response).toEqual({ uid: 'uid-1', allowed: true, status: { code: 200, message: 'nothing to change' } })
})

test.each([
  ['throws', () => Promise.reject(new Error('out of order')), {}, /internal webhook error/],
  ['hangs', () => sleep(60_000).then(() => allow()), { handlerTimeoutMs: 5 }, /did not decide within 5 ms/],
])('a webhook that fails open admits unchanged what its handler %s on', async (_, handler, options, message) => {
  const route = mutatingWebhook('/m', handler, { failOpen: true })
  const { response } = await ask(route, admissionReview(), options)
  expect(response).toEqual({
    uid: 'uid-1',
    allowed: true,
    status: { code: 200, message: expect.stringMatching(message) },
  })
})

test('a webhook that fails open admits an object that it cannot read', async () => {
  const route = mutatingWebhook('/m', () => mutate(widget(2)), { failOpen: true })
  const { response } = await ask(route, admissionReview({ object: { kind: 'Widget' } }))
  expect(response).toMatchObject({ allowed: true, status: { message: expect.stringContaining('request.object') } })
  expect(response).not.toHaveProperty('patch')
})
