/**
 * Admission webhooks over verified TLS: the reviews they get, and the effect of their responses. Passes on both
 * clusters.
 */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { respond, startWebhookServer } from '../src/admission/testing/webhook-server.ts'
import type { JsonObject } from '../src/index.ts'
import { allow, installWebhook, patching, type ReviewHandler, type TestWebhook } from './support/webhook.ts'

let cluster: ClusterUnderTest
beforeAll(async () => {
  cluster = await openCluster()
})
afterAll(() => cluster.close())

const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`
const create = (namespace: string, name: string, more: JsonObject = {}, query = '') =>
  cluster.raw.send({ method: 'POST', path: `${configMaps(namespace)}${query}`, body: { metadata: { name }, ...more } })

describe('a validating webhook', () => {
  let namespace: string
  let hook: TestWebhook
  beforeAll(async () => {
    namespace = await cluster.createNamespace()
    hook = await installWebhook(cluster, 'validating', namespace)
  })
  afterAll(() => hook[Symbol.asyncDispose]())
  beforeEach(() => {
    hook.answer = allow
    hook.requests.length = 0
  })

  it('gets the complete request', async () => {
    await create(namespace, 'asked', { data: { a: 'b' } }, '?fieldManager=me')
    expect(hook.requests).toHaveLength(1)
    expect(hook.requests[0]).toMatchObject({
      uid: expect.any(String),
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'asked',
      namespace,
      operation: 'CREATE',
      userInfo: { groups: expect.arrayContaining(['system:masters', 'system:authenticated']) },
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'asked', namespace }, data: { a: 'b' } },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
    })
    expect(hook.server.requests.at(-1)?.url).toBe('/review?timeout=5s')
  })

  it('gets old and new state of an update, and the last state of a deletion', async () => {
    await create(namespace, 'change', { data: { a: '1' } })
    const path = `${configMaps(namespace)}/change`
    const headers = { 'content-type': 'application/merge-patch+json' }
    await cluster.raw.send({ method: 'PATCH', path, body: { data: { a: '2' } }, headers })
    await cluster.raw.send({ method: 'DELETE', path })
    expect(hook.requests.slice(1)).toMatchObject([
      {
        operation: 'UPDATE',
        object: { data: { a: '2' } },
        oldObject: { data: { a: '1' } },
        options: { kind: 'UpdateOptions' },
      },
      { operation: 'DELETE', object: null, oldObject: { data: { a: '2' } }, options: { kind: 'DeleteOptions' } },
    ])
  })

  it('gets dry runs marked as such', async () => {
    await create(namespace, 'dry', {}, '?dryRun=All')
    expect(hook.requests).toMatchObject([{ dryRun: true, options: { dryRun: ['All'] } }])
  })

  it.each<[string, JsonObject | undefined, JsonObject]>([
    [
      'without a status',
      undefined,
      { code: 400, message: 'admission webhook "hook.example.com" denied the request without explanation' },
    ],
    [
      'with a message',
      { message: 'nope' },
      { code: 400, message: 'admission webhook "hook.example.com" denied the request: nope' },
    ],
    [
      'with a code',
      { message: 'nope', code: 403, reason: 'Forbidden' },
      { code: 403, reason: 'Forbidden', message: 'admission webhook "hook.example.com" denied the request: nope' },
    ],
    [
      'with a reason',
      { reason: 'Because' },
      { code: 400, reason: 'Because', message: 'admission webhook "hook.example.com" denied the request: Because' },
    ],
    [
      'with a code of success',
      { code: 200, message: 'x' },
      { code: 400, message: 'admission webhook "hook.example.com" denied the request: x' },
    ],
  ])('denies %s', async (_, status, expected) => {
    hook.answer = (review) => respond(review, { allowed: false, ...(status === undefined ? {} : { status }) })
    const answer = await create(namespace, 'denied')
    expect(answer.json()).toMatchObject({ kind: 'Status', status: 'Failure', ...expected })
    expect(answer.status).toBe(expected.code)
  })

  it('adds warnings to the response', async () => {
    hook.answer = (review) => respond(review, { allowed: true, warnings: ['w1', 'with "quotes"', 'bad\nline'] })
    const { headers } = await create(namespace, 'warned')
    expect([headers.warning].flat().join(', ')).toBe('299 - "w1", 299 - "with \\"quotes\\""')
  })

  it.each<[string, ReviewHandler, string]>([
    [
      'another uid',
      () => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: 'z', allowed: true } }),
      'received invalid webhook response: expected response.uid=',
    ],
    [
      'no response',
      () => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }),
      'received invalid webhook response: webhook response was absent',
    ],
    ['an empty object', () => ({}), 'received invalid webhook response: webhook response was absent'],
    ['HTML', () => '<html>', "failed to call webhook: couldn't get version/kind; json parse error: "],
    [
      'nothing',
      () => '',
      'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
    ],
    ['a patch', patching(), 'received invalid webhook response: validating webhook may not return response.patch'],
    [
      'status 500',
      (_, response) => {
        response.writeHead(500)
        return 'boom'
      },
      'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    ],
    [
      'status 404',
      (_, response) => {
        response.writeHead(404)
        return 'x'
      },
      'failed to call webhook: the server could not find the requested resource',
    ],
    [
      'a broken connection',
      (_, response) => {
        response.destroy()
      },
      ': EOF',
    ],
  ])('that responds with %s fails the request', async (_, answer, message) => {
    hook.answer = answer
    const { status, json } = await create(namespace, 'failed')
    expect(status).toBe(500)
    expect(json()).toMatchObject({
      reason: 'InternalError',
      details: { causes: [{ message: expect.stringContaining(message) }] },
    })
    expect(json().message).toContain('Internal error occurred: failed calling webhook "hook.example.com": ')
  })
})

describe('a webhook that cannot be reached', () => {
  it.each<[string, (other: string) => JsonObject, string]>([
    [
      'because the connection is refused',
      () => ({ clientConfig: { url: 'https://127.0.0.1:1/x' } }),
      'Post "https://127.0.0.1:1/x?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused',
    ],
    [
      'because its service does not exist',
      () => ({ clientConfig: { service: { namespace: 'default', name: 'nope', path: '/a' } } }),
      'Post "https://nope.default.svc:443/a?timeout=5s": service "nope" not found',
    ],
    [
      'because its certificate is not trusted',
      (caBundle) => ({ clientConfig: { caBundle } }),
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ],
  ])('%s fails the request', async (_, overrides, message) => {
    const namespace = await cluster.createNamespace()
    await using other = await startWebhookServer(['127.0.0.1'], () => undefined)
    const wanted = overrides(other.caBundle)
    const clientConfig = { ...(wanted.clientConfig as JsonObject) }
    if (clientConfig.service === undefined) clientConfig.url ??= `https://127.0.0.1:${other.port}/x`
    // The bundle of a third server, so that the second one is not trusted.
    await using third = await startWebhookServer(['127.0.0.1'], () => undefined)
    if (clientConfig.caBundle !== undefined) clientConfig.caBundle = third.caBundle
    await using _hook = await installWebhook(cluster, 'validating', namespace, { clientConfig })
    const { status, json } = await create(namespace, 'x')
    expect(status).toBe(500)
    expect(json().message).toContain(`failed calling webhook "hook.example.com": failed to call webhook: `)
    expect(json().message).toContain(message)
  })

  it('that does not respond in time fails the request', async () => {
    const namespace = await cluster.createNamespace()
    await using hook = await installWebhook(cluster, 'validating', namespace, { timeoutSeconds: 1 })
    hook.answer = () => undefined
    const { status, json } = await create(namespace, 'slow')
    expect(status).toBe(500)
    expect(json().message).toContain('/review?timeout=1s": context deadline exceeded')
  })

  it('is ignored if its failure policy is Ignore', async () => {
    const namespace = await cluster.createNamespace()
    await using hook = await installWebhook(cluster, 'validating', namespace, { failurePolicy: 'Ignore' })
    hook.answer = () => 'not JSON'
    expect((await create(namespace, 'ignored')).status).toBe(201)
    hook.answer = (review) => respond(review, { allowed: false })
    expect((await create(namespace, 'denied')).status).toBe(400)
  })
})

describe('a mutating webhook', () => {
  let namespace: string
  let hook: TestWebhook
  beforeAll(async () => {
    namespace = await cluster.createNamespace()
    hook = await installWebhook(cluster, 'mutating', namespace)
  })
  afterAll(() => hook[Symbol.asyncDispose]())
  beforeEach(() => {
    hook.answer = allow
  })

  it('changes the object', async () => {
    hook.answer = patching(
      { op: 'add', path: '/metadata/labels', value: { x: 'y' } },
      { op: 'add', path: '/data', value: { a: 'b' } },
    )
    const { status, json } = await create(namespace, 'changed')
    expect(status).toBe(201)
    expect(json()).toMatchObject({ metadata: { labels: { x: 'y' } }, data: { a: 'b' } })
  })

  it('may not move the object to another namespace', async () => {
    hook.answer = patching({ op: 'replace', path: '/metadata/namespace', value: 'other' })
    const { status, json } = await create(namespace, 'moved')
    expect(status).toBe(400)
    expect(json().message).toBe('the namespace of the provided object does not match the namespace sent on the request')
  })

  it.each<[string, JsonObject]>([
    ['a missing path', { op: 'remove', path: '/spec/nothing' }],
    ['a failed test', { op: 'test', path: '/metadata/name', value: 'y' }],
    ['an unknown operation', { op: 'explode', path: '/a' }],
    ['a value of another type', { op: 'add', path: '/data', value: 5 }],
  ])('with a patch with %s fails the request', async (_, operation) => {
    hook.answer = patching(operation)
    const { status, json } = await create(namespace, 'x')
    expect(status).toBe(500)
    expect(json()).toMatchObject({ reason: 'InternalError' })
  })

  it.each<[string, JsonObject, string]>([
    ['a patch without its type', { patch: 'W10=' }, 'webhook returned response.patch but not response.patchType'],
    [
      'a type without a patch',
      { patchType: 'JSONPatch' },
      'webhook returned response.patchType but not response.patch',
    ],
  ])('that responds with %s fails the request', async (_, parts, message) => {
    hook.answer = (review) => respond(review, { allowed: true, ...parts })
    expect((await create(namespace, 'x')).json().message).toContain(message)
  })
})

describe('a webhook is called', () => {
  const rule = (overrides: JsonObject = {}) => ({
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], ...overrides }],
  })

  it('only for objects it selects, before or after the change', async () => {
    const namespace = await cluster.createNamespace()
    const objectSelector = { matchLabels: { app: 'x' } }
    await using hook = await installWebhook(cluster, 'validating', namespace, { objectSelector })
    await create(namespace, 'other')
    expect(hook.requests).toEqual([])
    await create(namespace, 'selected', { metadata: { name: 'selected', labels: { app: 'x' } } })
    const headers = { 'content-type': 'application/merge-patch+json' }
    const path = `${configMaps(namespace)}/selected`
    await cluster.raw.send({ method: 'PATCH', path, body: { metadata: { labels: { app: 'y' } } }, headers })
    await cluster.raw.send({ method: 'PATCH', path, body: { data: { a: 'b' } }, headers })
    expect(hook.requests.map(({ operation }) => operation)).toEqual(['CREATE', 'UPDATE'])
  })

  it('only for operations and resources of its rules', async () => {
    const namespace = await cluster.createNamespace()
    await using hook = await installWebhook(cluster, 'validating', namespace, rule({ operations: ['CREATE'] }))
    await create(namespace, 'a')
    await cluster.raw.send({ method: 'DELETE', path: `${configMaps(namespace)}/a` })
    await cluster.raw.send({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/secrets`,
      body: { metadata: { name: 's' } },
    })
    expect(hook.requests).toMatchObject([{ operation: 'CREATE', resource: { resource: 'configmaps' } }])
  })

  it('for namespaces with their own name as namespace', async () => {
    const namespace = await cluster.createNamespace()
    const namespaces = rule({ resources: ['namespaces', 'configmaps'] })
    await using hook = await installWebhook(cluster, 'validating', namespace, namespaces)
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = { metadata: { labels: { a: 'b' } } }
    await cluster.raw.send({ method: 'PATCH', path: `/api/v1/namespaces/${namespace}`, body, headers })
    expect(hook.requests).toMatchObject([{ kind: { kind: 'Namespace' }, name: namespace, namespace }])
  })

  it('for each object of a deleted collection', async () => {
    const namespace = await cluster.createNamespace()
    await using hook = await installWebhook(
      cluster,
      'validating',
      namespace,
      rule({ operations: ['CREATE', 'DELETE'] }),
    )
    const labels = { all: 'yes' }
    for (const name of ['a', 'b']) await create(namespace, name, { metadata: { name, labels } })
    hook.requests.length = 0
    await cluster.raw.send({ method: 'DELETE', path: `${configMaps(namespace)}?labelSelector=all%3Dyes` })
    const seen = hook.requests.map(({ operation, object, oldObject }) => [
      operation,
      object,
      ((oldObject as JsonObject).metadata as JsonObject).name,
    ])
    expect(seen.sort()).toEqual([
      ['DELETE', null, 'a'],
      ['DELETE', null, 'b'],
    ])
  })

  it('again when another one changed the object after it, if it allows reinvocation', async () => {
    const namespace = await cluster.createNamespace()
    await using server = await startWebhookServer(
      ['127.0.0.1'],
      patching({ op: 'add', path: '/data', value: { late: 'yes' } }),
    )
    await using hook = await installWebhook(cluster, 'mutating', namespace, { reinvocationPolicy: 'IfNeeded' })
    // Webhooks are called in the order of configuration names: this one comes after `mutating-…`.
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
    const name = `zz-${namespace}`
    const entry = {
      name: 'late.example.com',
      clientConfig: { url: `https://127.0.0.1:${server.port}/`, caBundle: server.caBundle },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...rule(),
    }
    await cluster.raw.send({ method: 'POST', path, body: { metadata: { name }, webhooks: [entry] } })
    let seen: JsonObject[] = []
    for (let attempt = 0; attempt < 100 && seen.length < 2; attempt += 1) {
      hook.requests.length = 0
      const { status } = await create(namespace, `twice-${attempt}`)
      expect(status).toBe(201)
      seen = [...hook.requests]
    }
    await cluster.raw.send({ method: 'DELETE', path: `${path}/${name}` })
    expect(seen).toMatchObject([{ object: {} }, { object: { data: { late: 'yes' } } }])
  })

  it('never for webhook configurations', async () => {
    const namespace = await cluster.createNamespace()
    const everything = {
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' }],
    }
    // The namespace selector of the helper limits it to one namespace; configurations are cluster-scoped and would
    // match.
    await using hook = await installWebhook(cluster, 'validating', namespace, everything)
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    const { status } = await cluster.raw.send({
      method: 'POST',
      path: `${path}?dryRun=All`,
      body: { metadata: { name: `empty-${namespace}` } },
    })
    expect(status).toBe(201)
    const resources = hook.requests.map((request) => (request.resource as JsonObject).resource)
    expect(resources).not.toContain('validatingwebhookconfigurations')
  })
})
