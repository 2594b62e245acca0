import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import { StatusError } from '../status-error.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { fakeClusterApi } from './testing/fake-cluster-api.ts'
import { respond } from './testing/webhook-server.ts'
import { WebhookClient } from './webhook-client.ts'
import { createWebhookAdmission, type WebhookAdmissionOptions } from './webhooks.ts'

const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io'
const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io'

function resource(overrides: Partial<ResourceInfo> = {}): ResourceInfo {
  return {
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    listKind: 'ConfigMapList',
    plural: 'configmaps',
    singular: 'configmap',
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: [],
    subresources: [],
    storageVersion: 'v1',
    schema: undefined,
    custom: false,
    ...overrides,
  }
}

function attributes(overrides: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  return {
    operation: 'CREATE',
    resource: resource(),
    subresource: undefined,
    namespace: 'ns',
    name: 'x',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'ns' } },
    oldObject: undefined,
    user: { username: 'jane', groups: ['devs'] },
    dryRun: false,
    options: {},
    warn: () => undefined,
    signal: new AbortController().signal,
    ...overrides,
  }
}

function webhook(name: string, overrides: JsonObject = {}): JsonObject {
  return {
    name,
    clientConfig: { service: { namespace: 'sys', name } },
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...overrides,
  }
}

type Answers = Readonly<Record<string, (review: JsonObject) => unknown>>

/** A plug-in whose webhooks are functions by service name; `calls` records who was asked. */
function admission(
  configurations: { mutating?: readonly JsonObject[]; validating?: readonly JsonObject[] },
  answers: Answers,
  options: Partial<WebhookAdmissionOptions> = {},
) {
  const calls: string[] = []
  const reviews: JsonObject[] = []
  const configuration = (hook: JsonObject, index: number) => ({
    metadata: { name: `config-${index}` },
    webhooks: [hook],
  })
  const api = fakeClusterApi({
    [MUTATING]: (configurations.mutating ?? []).map(configuration),
    [VALIDATING]: (configurations.validating ?? []).map(configuration),
    namespaces: [{ metadata: { name: 'ns', labels: { team: 'a' } } }],
  })
  const client = new WebhookClient({
    callWebhook: ({ service, review }) => {
      const name = service?.name ?? ''
      calls.push(name)
      reviews.push(review)
      const answer = answers[name]
      return answer === undefined ? undefined : Promise.resolve().then(() => answer(review))
    },
  })
  const plugin = createWebhookAdmission({ api, client, ...options })
  return {
    api,
    calls,
    reviews,
    mutate: async (of: AdmissionAttributes) => plugin.mutate?.(of),
    validate: async (of: AdmissionAttributes) => plugin.validate?.(of),
  }
}

const allow = (review: JsonObject) => respond(review, { allowed: true })
function patching(...operations: JsonObject[]) {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return (review: JsonObject) => respond(review, { allowed: true, patchType: 'JSONPatch', patch })
}
const label = (key: string) => patching({ op: 'add', path: '/metadata/labels', value: { [key]: 'yes' } })

async function refusal(call: Promise<unknown>): Promise<StatusError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof StatusError) return error
  throw new Error(`expected a StatusError, got ${String(error)}`)
}

describe('mutating webhooks', () => {
  it('change the object one after the other, in the order of their configurations', async () => {
    const { mutate, calls } = admission(
      { mutating: [webhook('a'), webhook('b')] },
      {
        a: patching({ op: 'add', path: '/data', value: { from: 'a' } }),
        b: (review) => {
          expect(review).toMatchObject({ request: { object: { data: { from: 'a' } } } })
          return patching({ op: 'add', path: '/data/next', value: 'b' })(review)
        },
      },
    )
    await expect(mutate(attributes())).resolves.toMatchObject({ data: { from: 'a', next: 'b' } })
    expect(calls).toEqual(['a', 'b'])
  })

  it('never change the object they were given', async () => {
    const { mutate } = admission({ mutating: [webhook('a')] }, { a: label('x') })
    const given = attributes()
    const before = structuredClone(given.object)
    await mutate(given)
    expect(given.object).toEqual(before)
  })

  it('are asked again when a later one changed the object and they want it', async () => {
    const { mutate, calls } = admission(
      { mutating: [webhook('a', { reinvocationPolicy: 'IfNeeded' }), webhook('once'), webhook('b')] },
      { a: allow, once: allow, b: label('b') },
    )
    await mutate(attributes())
    expect(calls).toEqual(['a', 'once', 'b', 'a'])
  })

  it('are not asked again after their own change', async () => {
    const { mutate, calls } = admission(
      { mutating: [webhook('a', { reinvocationPolicy: 'IfNeeded' }), webhook('b')] },
      { a: label('a'), b: allow },
    )
    await mutate(attributes())
    expect(calls).toEqual(['a', 'b'])
  })

  it('are not asked again for a patch that changes nothing', async () => {
    const { mutate, calls } = admission(
      { mutating: [webhook('a', { reinvocationPolicy: 'IfNeeded' }), webhook('b')] },
      { a: allow, b: patching({ op: 'replace', path: '/metadata/name', value: 'x' }) },
    )
    await mutate(attributes())
    expect(calls).toEqual(['a', 'b'])
  })

  it('let built-in plug-ins look at the changed object once more', async () => {
    const plugin: AdmissionPlugin = {
      name: 'Seen',
      mutate: ({ object }) => ({ ...object, seen: JSON.stringify(object?.metadata) }),
    }
    const { mutate } = admission({ mutating: [webhook('a')] }, { a: label('a') }, { reinvoked: [plugin] })
    await expect(mutate(attributes())).resolves.toMatchObject({ seen: expect.stringContaining('"a":"yes"') })
  })

  it.each<[string, JsonObject[]]>([
    ['a missing path', [{ op: 'remove', path: '/spec/nothing' }]],
    ['a failed test', [{ op: 'test', path: '/metadata/name', value: 'y' }]],
    ['an unknown operation', [{ op: 'explode', path: '/a' }]],
    ['a change of kind', [{ op: 'replace', path: '/kind', value: 'Secret' }]],
    ['the whole document replaced by text', [{ op: 'replace', path: '', value: 'gone' }]],
  ])('are refused for a patch with %s, even when failures are ignored', async (_, operations) => {
    const { mutate } = admission(
      { mutating: [webhook('a', { failurePolicy: 'Ignore' })] },
      { a: patching(...operations) },
    )
    const error = await refusal(mutate(attributes()))
    expect(error).toMatchObject({ code: 500, reason: 'InternalError' })
    expect(error.message).toContain('admission webhook "a"')
  })

  it.each([
    ['not base64', '!!!'],
    ['not JSON', Buffer.from('nope').toString('base64')],
    ['no list', Buffer.from('{}').toString('base64')],
  ])('with a patch that is %s count as failed calls', async (_, patch) => {
    const answer = (review: JsonObject) => respond(review, { allowed: true, patchType: 'JSONPatch', patch })
    const strict = admission({ mutating: [webhook('a')] }, { a: answer })
    const error = await refusal(strict.mutate(attributes()))
    expect(error.message).toContain('failed calling webhook "a": received invalid webhook response: response.patch is')
    const lenient = admission({ mutating: [webhook('a', { failurePolicy: 'Ignore' })] }, { a: answer })
    await expect(lenient.mutate(attributes())).resolves.toEqual(attributes().object)
  })

  it('cannot reach the prototype of objects', async () => {
    const { mutate } = admission(
      { mutating: [webhook('a')] },
      { a: patching({ op: 'add', path: '/__proto__/polluted', value: true }) },
    )
    await mutate(attributes()).catch((error: unknown) => error)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('may not move the object to another namespace', async () => {
    const { mutate } = admission(
      { mutating: [webhook('a')] },
      { a: patching({ op: 'replace', path: '/metadata/namespace', value: 'other' }) },
    )
    expect(await refusal(mutate(attributes()))).toMatchObject({ code: 400, reason: 'BadRequest' })
  })

  it('fail the request with a change that does not fit the kind', async () => {
    const settle = () => {
      throw new StatusError(400, 'BadRequest', 'data is not a map')
    }
    const { mutate } = admission({ mutating: [webhook('a')] }, { a: label('a') }, { settle })
    expect(await refusal(mutate(attributes()))).toMatchObject({
      code: 500,
      message: 'Internal error occurred: data is not a map',
    })
  })

  it('may not patch what is being deleted', async () => {
    const { mutate } = admission({ mutating: [webhook('a')] }, { a: label('a') })
    const error = await refusal(
      mutate(attributes({ operation: 'DELETE', object: undefined, oldObject: { metadata: { name: 'x' } } })),
    )
    expect(error.message).toContain('attempted to modify the object, which is not supported for this operation')
  })
})

describe('validating webhooks', () => {
  it('refuse with the code, reason, message and details they ask for', async () => {
    const status = {
      code: 422,
      reason: 'Invalid',
      message: 'too big',
      details: { name: 'x', causes: [{ field: 'a' }] },
    }
    const { validate } = admission(
      { validating: [webhook('a')] },
      { a: (review) => respond(review, { allowed: false, status }) },
    )
    expect(await refusal(validate(attributes()))).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'admission webhook "a" denied the request: too big',
      details: { name: 'x', causes: [{ field: 'a' }] },
    })
  })

  it('refuse with 400 when they give no code, or one that means success', async () => {
    for (const status of [undefined, { code: 200 }, { code: 99_999 }, { code: -1 }]) {
      const { validate } = admission(
        { validating: [webhook('a')] },
        { a: (review) => respond(review, { allowed: false, ...(status === undefined ? {} : { status }) }) },
      )
      expect(await refusal(validate(attributes()))).toMatchObject({
        code: 400,
        message: 'admission webhook "a" denied the request without explanation',
      })
    }
  })

  it('are all asked, and the first in order speaks for those that refuse', async () => {
    const deny = (message: string) => (review: JsonObject) => respond(review, { allowed: false, status: { message } })
    const { validate, calls } = admission(
      { validating: [webhook('a'), webhook('b'), webhook('c')] },
      { a: allow, b: deny('second'), c: deny('third') },
    )
    expect((await refusal(validate(attributes()))).message).toContain('second')
    expect(calls).toEqual(['a', 'b', 'c'])
  })

  it('pass their warnings on, but for those with control characters', async () => {
    const warnings: string[] = []
    const { validate } = admission(
      { validating: [webhook('a')] },
      { a: (review) => respond(review, { allowed: true, warnings: ['careful', 'a\r\nSet-Cookie: x', 7] }) },
    )
    await validate(attributes({ warn: (text) => warnings.push(text) }))
    expect(warnings).toEqual(['careful'])
  })

  it.each<[string, (review: JsonObject) => unknown, string]>([
    [
      'another uid',
      (review) => ({ ...respond(review, {}), response: { uid: 'other', allowed: true } }),
      'expected response.uid=',
    ],
    [
      'no response',
      () => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }),
      'webhook response was absent',
    ],
    [
      'another kind',
      (review) => ({ ...respond(review, { allowed: true }), kind: 'Pod' }),
      'expected webhook response of',
    ],
    ['a patch', label('a'), 'validating webhook may not return response.patch'],
    ['allowed as text', (review) => respond(review, { allowed: 'true' }), 'response.allowed is not a boolean'],
    ['nothing', () => null, 'json parse error'],
    [
      'an exception',
      () => {
        throw new Error('boom')
      },
      'boom',
    ],
  ])('that answer with %s refuse the request or are ignored, by their policy', async (_, answer, message) => {
    const strict = admission({ validating: [webhook('a')] }, { a: answer })
    const error = await refusal(strict.validate(attributes()))
    expect(error).toMatchObject({ code: 500, reason: 'InternalError' })
    expect(error.message).toContain('Internal error occurred: failed calling webhook "a": ')
    expect(error.message).toContain(message)
    const lenient = admission({ validating: [webhook('a', { failurePolicy: 'Ignore' })] }, { a: answer })
    await expect(lenient.validate(attributes())).resolves.toBeUndefined()
  })

  it('end with a timeout when the request itself is aborted, even if failures are ignored', async () => {
    const controller = new AbortController()
    const { validate } = admission(
      { validating: [webhook('a', { failurePolicy: 'Ignore' })] },
      { a: () => new Promise(() => controller.abort()) },
    )
    expect(await refusal(validate(attributes({ signal: controller.signal })))).toMatchObject({
      code: 504,
      reason: 'Timeout',
    })
  })

  it('follow changes of their configuration', async () => {
    const { api, validate, calls } = admission({ validating: [webhook('a')] }, { a: allow })
    await validate(attributes())
    await api.delete(VALIDATING, undefined, 'config-0')
    await validate(attributes())
    expect(calls).toEqual(['a'])
  })
})

describe('the review', () => {
  it('carries the request', async () => {
    const { validate, reviews } = admission({ validating: [webhook('a')] }, { a: allow }, { randomUuid: () => 'uid-1' })
    await validate(attributes({ dryRun: true, options: { fieldManager: 'm' } }))
    expect(reviews).toEqual([
      {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        request: {
          uid: 'uid-1',
          kind: { group: '', version: 'v1', kind: 'ConfigMap' },
          resource: { group: '', version: 'v1', resource: 'configmaps' },
          requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
          requestResource: { group: '', version: 'v1', resource: 'configmaps' },
          name: 'x',
          namespace: 'ns',
          operation: 'CREATE',
          userInfo: { username: 'jane', groups: ['devs'] },
          object: attributes().object,
          oldObject: null,
          dryRun: true,
          options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'm' },
        },
      },
    ])
  })

  it('names the kind of a subresource', async () => {
    const scale = { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: [] }
    const { validate, reviews } = admission({ validating: [webhook('a')] }, { a: allow })
    await validate(
      attributes({ resource: resource({ subresources: [scale] }), subresource: 'scale', object: { kind: 'Scale' } }),
    )
    expect(reviews[0]).toMatchObject({
      request: { kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, subResource: 'scale' },
    })
  })

  it('shows the object in the version the rules name, and takes the change back to that of the request', async () => {
    const v1 = resource({ group: 'g', version: 'v1', kind: 'Widget', plural: 'widgets' })
    const v2 = resource({ group: 'g', version: 'v2', kind: 'Widget', plural: 'widgets' })
    const rules = [{ operations: ['*'], apiGroups: ['g'], apiVersions: ['v1'], resources: ['widgets'] }]
    const { mutate, reviews } = admission(
      { mutating: [webhook('a', { rules })] },
      { a: label('a') },
      {
        versionsOf: () => [v2, v1],
        convert: async (object, to) => ({ ...object, apiVersion: `g/${to.version}`, converted: to.version }),
      },
    )
    const object = { apiVersion: 'g/v2', kind: 'Widget', metadata: { name: 'x' } }
    const result = await mutate(attributes({ resource: v2, object }))
    expect(reviews[0]).toMatchObject({
      request: { kind: { version: 'v1' }, requestKind: { version: 'v2' }, object: { apiVersion: 'g/v1' } },
    })
    expect(result).toMatchObject({ apiVersion: 'g/v2', converted: 'v2', metadata: { labels: { a: 'yes' } } })
  })
})

describe('the choice of webhooks', () => {
  const pods = resource({ plural: 'pods', kind: 'Pod' })
  const rule = (overrides: JsonObject) => ({
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], ...overrides }],
  })

  it.each<[string, JsonObject, Partial<AdmissionAttributes>, boolean]>([
    ['the exact resource', rule({}), {}, true],
    ['another operation', rule({ operations: ['DELETE'] }), {}, false],
    ['any operation', rule({ operations: ['*'] }), {}, true],
    ['another group', rule({ apiGroups: ['apps'] }), {}, false],
    ['another version', rule({ apiVersions: ['v2'] }), {}, false],
    ['a subresource, asked for the resource', rule({}), { subresource: 'status' }, false],
    ['any resource, not subresources', rule({ resources: ['*'] }), { subresource: 'status' }, false],
    ['any subresource of pods', rule({ resources: ['pods/*'] }), { subresource: 'status' }, true],
    ['any subresource of pods and pods themselves', rule({ resources: ['pods/*'] }), {}, true],
    ['one subresource of anything', rule({ resources: ['*/status'] }), { subresource: 'status' }, true],
    ['everything', rule({ resources: ['*/*'] }), { subresource: 'status' }, true],
    ['cluster scope only', rule({ scope: 'Cluster' }), {}, false],
    ['namespaced scope', rule({ scope: 'Namespaced' }), {}, true],
    ['selected namespaces', { ...rule({}), namespaceSelector: { matchLabels: { team: 'a' } } }, {}, true],
    ['other namespaces', { ...rule({}), namespaceSelector: { matchLabels: { team: 'b' } } }, {}, false],
    ['selected objects', { ...rule({}), objectSelector: { matchLabels: { app: 'x' } } }, {}, false],
  ])('with a rule for %s', async (_, hook, overrides, isAsked) => {
    const { validate, calls } = admission({ validating: [webhook('a', hook)] }, { a: allow })
    await validate(attributes({ resource: pods, ...overrides }))
    expect(calls).toEqual(isAsked ? ['a'] : [])
  })

  it('selects by the old labels as well as the new', async () => {
    const hook = webhook('a', { objectSelector: { matchLabels: { app: 'x' } } })
    const { validate, calls } = admission({ validating: [hook] }, { a: allow })
    await validate(attributes({ operation: 'UPDATE', oldObject: { metadata: { labels: { app: 'x' } } } }))
    expect(calls).toEqual(['a'])
  })

  it('selects a namespace by its own labels and other cluster-scoped objects always', async () => {
    const hook = webhook('a', { namespaceSelector: { matchLabels: { team: 'z' } } })
    const { validate, calls } = admission({ validating: [hook] }, { a: allow })
    const namespaces = resource({ plural: 'namespaces', kind: 'Namespace', namespaced: false })
    const created = (labels: JsonObject) => ({ metadata: { name: 'new', labels } })
    await validate(attributes({ resource: namespaces, namespace: 'new', name: 'new', object: created({ team: 'z' }) }))
    await validate(attributes({ resource: namespaces, namespace: 'new', name: 'new', object: created({}) }))
    await validate(attributes({ resource: resource({ plural: 'nodes', kind: 'Node' }), namespace: undefined }))
    expect(calls).toEqual(['a', 'a'])
  })

  it('never asks about webhook configurations', async () => {
    const { validate, mutate, calls } = admission(
      { validating: [webhook('a')], mutating: [webhook('a')] },
      { a: (review) => respond(review, { allowed: false }) },
    )
    const of = attributes({
      resource: resource({ group: 'admissionregistration.k8s.io', plural: 'validatingwebhookconfigurations' }),
    })
    await validate(of)
    await mutate(of)
    expect(calls).toEqual([])
  })

  it('refuses a dry run for webhooks with side effects', async () => {
    const { validate, calls } = admission({ validating: [webhook('a', { sideEffects: 'Some' })] }, { a: allow })
    expect(await refusal(validate(attributes({ dryRun: true })))).toMatchObject({
      code: 400,
      message: 'admission webhook "a" does not support dry run',
    })
    expect(calls).toEqual([])
  })

  it('asks only when every match condition holds', async () => {
    const conditions = (...expressions: string[]) => ({
      matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
    })
    const compileCondition = (expression: string) => () => {
      if (expression === 'broken') throw new Error('no such key')
      return expression === 'true'
    }
    const run = async (overrides: JsonObject) => {
      const { validate, calls } = admission(
        { validating: [webhook('a', overrides)] },
        { a: allow },
        { compileCondition },
      )
      await validate(attributes())
      return calls.length
    }
    expect(await run(conditions('true', 'true'))).toBe(1)
    expect(await run(conditions('true', 'false'))).toBe(0)
    expect(await run(conditions('broken', 'false'))).toBe(0)
    expect(await run({ ...conditions('broken'), failurePolicy: 'Ignore' })).toBe(0)
    expect(await refusal(run(conditions('broken')))).toMatchObject({
      code: 403,
      message: `configmaps "x" is forbidden: expression 'broken' resulted in error: no such key`,
    })
  })

  it('refuses match conditions clearly when none can be evaluated', async () => {
    const matchConditions = [{ name: 'c', expression: 'true' }]
    const { validate } = admission({ validating: [webhook('a', { matchConditions })] }, { a: allow })
    expect((await refusal(validate(attributes()))).message).toContain('evaluates no match conditions')
  })
})
