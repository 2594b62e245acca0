/** Mutating webhooks: how they change objects, in which order, and what they must not do. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AdmissionWebhook, admissionWebhook, allow, patching } from './support/admission-webhook.ts'
import { ApiResource } from './support/api-resource.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { defineWidgets, uniqueGroup, versionOf } from './support/custom-resource.ts'
import { ownersOf } from './support/owned-fields.ts'
import { badRequest, failure } from './support/status.ts'
import { warningsOf } from './support/warnings.ts'

const api = ConformanceApi.forThisFile()

function configMapsIn(namespace: string): ApiResource {
  return new ApiResource(api, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    namespace: () => namespace,
  })
}

/** The error for an invalid patch of a webhook. */
const broken = (message: string) =>
  failure({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  })

describe('a mutating webhook', () => {
  let configMaps: ApiResource
  let webhook: AdmissionWebhook
  beforeAll(async () => {
    const namespace = await api.newNamespace()
    configMaps = configMapsIn(namespace)
    webhook = await admissionWebhook(api, 'mutating', namespace)
  })
  afterAll(() => webhook[Symbol.asyncDispose]())
  beforeEach(() => {
    webhook.verdict = allow
    webhook.requests.length = 0
  })

  it('changes objects on create', async () => {
    webhook.verdict = patching(
      { op: 'add', path: '/metadata/labels', value: { seen: 'yes' } },
      { op: 'add', path: '/data/b', value: '2' },
    )
    const { status, body } = await configMaps.create('created', { data: { a: '1' } })
    expect(status).toBe(201)
    expect(body.metadata.labels).toEqual({ seen: 'yes' })
    expect(body.data).toEqual({ a: '1', b: '2' })
    expect((await configMaps.get('created')).body.data).toEqual({ a: '1', b: '2' })
  })

  it('changes objects on update, and gets the old state', async () => {
    await configMaps.given('updated', { data: { a: '1' } })
    webhook.verdict = patching({ op: 'replace', path: '/data/a', value: '3' })
    const { body } = await configMaps.patch('merge', 'updated', { data: { a: '2' } })
    expect(body.data).toEqual({ a: '3' })
    expect(webhook.requests[1]).toMatchObject({ object: { data: { a: '2' } }, oldObject: { data: { a: '1' } } })
  })

  it('can revert an update', async () => {
    const created = await configMaps.given('reverted', { data: { a: '1' } })
    webhook.verdict = patching({ op: 'replace', path: '/data/a', value: '1' })
    const { body } = await configMaps.patch('merge', 'reverted', { data: { a: '2' } })
    expect(body.data).toEqual(created.data)
  })

  it('gets an object without uid and timestamp on create', async () => {
    await configMaps.given('unborn')
    const { metadata } = webhook.requests[0].object
    expect(Object.keys(metadata).sort()).toEqual(['name', 'namespace'])
  })

  it('changes dry runs as well', async () => {
    webhook.verdict = patching({ op: 'add', path: '/data', value: { a: '1' } })
    const { body } = await configMaps.create('trial', {}, { query: 'dryRun=All' })
    expect(body.data).toEqual({ a: '1' })
    expect(webhook.requests[0].dryRun).toBe(true)
  })

  it('does not own what it adds', async () => {
    webhook.verdict = patching({ op: 'add', path: '/data/b', value: '2' })
    const { body } = await configMaps.apply('alice', 'owned', { data: { a: '1' } })
    expect(body.data).toEqual({ a: '1', b: '2' })
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data.a'] })
  })

  it('cannot add unknown fields', async () => {
    webhook.verdict = patching({ op: 'add', path: '/spec', value: { a: 1 } })
    const { status, body } = await configMaps.create('unknown')
    expect(status).toBe(201)
    expect(body.spec).toBeUndefined()
  })

  it('cannot corrupt managedFields', async () => {
    webhook.verdict = patching({ op: 'replace', path: '/metadata/managedFields', value: [{ operation: 'Steal' }] })
    const reply = await configMaps.create('ownership', { data: { a: '1' } }, { query: 'fieldManager=alice' })
    expect(ownersOf(reply.body)).toEqual({ 'alice Update': ['.data', '.data.a'] })
    expect(warningsOf(reply)).toEqual([
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be `Apply` or `Update`',
    ])
  })

  it('may deny', async () => {
    webhook.verdict = () => ({ allowed: false, status: { code: 403, message: 'not here' } })
    expect((await configMaps.create('denied')).body).toEqual(
      failure({ code: 403, message: 'admission webhook "hook.example.com" denied the request: not here' }),
    )
  })

  it('must follow the validation of the kind', async () => {
    webhook.verdict = patching({ op: 'add', path: '/data', value: { 'not a key': 'x' } })
    const { status, body } = await configMaps.create('invalid')
    expect(status).toBe(422)
    expect(body.reason).toBe('Invalid')
  })

  it('cannot move an object to another namespace', async () => {
    webhook.verdict = patching({ op: 'replace', path: '/metadata/namespace', value: 'other' })
    expect((await configMaps.create('moved')).body).toEqual(
      badRequest('the namespace of the provided object does not match the namespace sent on the request'),
    )
  })

  it.each<[string, Json, Json]>([
    [
      'removes a missing value',
      patching({ op: 'remove', path: '/data/z' }),
      broken("error in remove for path: '/data/z': Unable to remove nonexistent key: z: missing value"),
    ],
    [
      'tests for another value',
      patching({ op: 'test', path: '/data/a', value: 'z' }),
      broken('testing value /data/a failed: test failed'),
    ],
    [
      'sets a value of the wrong type',
      patching({ op: 'add', path: '/data/b', value: 5 }),
      broken('json: cannot unmarshal number into Go struct field ConfigMap.data of type string'),
    ],
    [
      'is not a list',
      () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{}').toString('base64') }),
      broken(
        'failed calling webhook "hook.example.com": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
      ),
    ],
    [
      'has no type',
      () => ({ allowed: true, patch: Buffer.from('[]').toString('base64') }),
      broken(
        'failed calling webhook "hook.example.com": received invalid webhook response: webhook returned response.patch but not response.patchType',
      ),
    ],
    [
      'is missing although it has a type',
      () => ({ allowed: true, patchType: 'JSONPatch' }),
      broken(
        'failed calling webhook "hook.example.com": received invalid webhook response: webhook returned response.patchType but not response.patch',
      ),
    ],
  ])('whose patch %s fails the request', async (_, verdict, expected) => {
    webhook.verdict = verdict
    expect((await configMaps.create('failed', { data: { a: '1' } })).body).toEqual(expected)
  })
})

describe('several mutating webhooks', () => {
  it('are called in the order of configuration names, each on the result of the previous one', async () => {
    const namespace = await api.newNamespace()
    await using second = await admissionWebhook(api, 'mutating', namespace, { prefix: 'b' })
    await using first = await admissionWebhook(api, 'mutating', namespace, { prefix: 'a' })
    first.verdict = patching({ op: 'add', path: '/data', value: { by: 'first' } })
    second.verdict = patching({ op: 'replace', path: '/data/by', value: 'second' })
    const { body } = await configMapsIn(namespace).create('x')
    expect(body.data).toEqual({ by: 'second' })
    expect(second.requests.at(-1).object.data).toEqual({ by: 'first' })
  })

  it('are called again when a later one changed the object, if they allow reinvocation', async () => {
    const namespace = await api.newNamespace()
    await using curious = await admissionWebhook(api, 'mutating', namespace, {
      prefix: 'a',
      entry: { reinvocationPolicy: 'IfNeeded' },
    })
    await using indifferent = await admissionWebhook(api, 'mutating', namespace, { prefix: 'b' })
    await using late = await admissionWebhook(api, 'mutating', namespace, { prefix: 'c' })
    late.verdict = patching({ op: 'add', path: '/data', value: { late: 'yes' } })
    for (const webhook of [curious, indifferent, late]) webhook.requests.length = 0
    await configMapsIn(namespace).given('x')
    expect(curious.requests.map(({ object }) => object.data)).toEqual([undefined, { late: 'yes' }])
    expect(indifferent.requests).toHaveLength(1)
    expect(late.requests).toHaveLength(1)
  })

  it('are called before validating ones', async () => {
    const namespace = await api.newNamespace()
    await using validating = await admissionWebhook(api, 'validating', namespace)
    await using mutating = await admissionWebhook(api, 'mutating', namespace)
    mutating.verdict = patching({ op: 'add', path: '/data', value: { a: '1' } })
    validating.requests.length = 0
    await configMapsIn(namespace).given('x')
    expect(validating.requests).toMatchObject([{ object: { data: { a: '1' } } }])
  })
})

describe('a webhook for another version of a resource', () => {
  const versions = [versionOf('v1', { storage: true }), versionOf('v1beta1')]

  it('is called in its own version, since versions are equivalent', async () => {
    const group = uniqueGroup()
    const widgets = await defineWidgets(api, { group, versions })
    await using webhook = await admissionWebhook(api, 'mutating', api.namespace, {
      rule: { apiGroups: [group], apiVersions: ['v1beta1'], resources: ['widgets'] },
      probe: () => widgets.create('probe', {}, { query: 'dryRun=All' }),
    })
    webhook.verdict = patching({ op: 'add', path: '/spec', value: { a: 'x' } })
    const { body } = await widgets.create('x')
    expect(body).toMatchObject({ apiVersion: `${group}/v1`, spec: { a: 'x' } })
    expect(webhook.requests).toMatchObject([
      {
        kind: { group, version: 'v1beta1', kind: 'Widget' },
        resource: { group, version: 'v1beta1', resource: 'widgets' },
        requestKind: { group, version: 'v1', kind: 'Widget' },
        requestResource: { group, version: 'v1', resource: 'widgets' },
        object: { apiVersion: `${group}/v1beta1` },
      },
    ])
  })

  it('is not called if its match policy is Exact', async () => {
    const group = uniqueGroup()
    const widgets = await defineWidgets(api, { group, versions })
    const beta = widgets.at({ apiVersion: `${group}/v1beta1` })
    await using webhook = await admissionWebhook(api, 'mutating', api.namespace, {
      entry: { matchPolicy: 'Exact' },
      rule: { apiGroups: [group], apiVersions: ['v1beta1'], resources: ['widgets'] },
      probe: () => beta.create('probe', {}, { query: 'dryRun=All' }),
    })
    await widgets.given('x')
    await beta.given('y')
    expect(webhook.requests.map(({ name }) => name)).toEqual(['y'])
  })
})
