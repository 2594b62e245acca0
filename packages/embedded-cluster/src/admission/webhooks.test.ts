import { describe, expect, it } from 'vitest'
import type { AdmissionPlugin } from '../api/admission-plugin.ts'
import type { JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'
import {
  admission,
  allow,
  attributes,
  label,
  patching,
  refusal,
  resource,
  VALIDATING,
  webhook,
} from './testing/webhook-admission.ts'
import { respond } from './testing/webhook-server.ts'

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

  it('never modify the object they were given', async () => {
    const { mutate } = admission({ mutating: [webhook('a')] }, { a: label('x') })
    const given = attributes()
    const before = structuredClone(given.object)
    await mutate(given)
    expect(given.object).toEqual(before)
  })

  it('are called again when a later one changed the object and they allow reinvocation', async () => {
    const { mutate, calls } = admission(
      { mutating: [webhook('a', { reinvocationPolicy: 'IfNeeded' }), webhook('once'), webhook('b')] },
      { a: allow, once: allow, b: label('b') },
    )
    await mutate(attributes())
    expect(calls).toEqual(['a', 'once', 'b', 'a'])
  })

  it('are not called again after their own change', async () => {
    const { mutate, calls } = admission(
      { mutating: [webhook('a', { reinvocationPolicy: 'IfNeeded' }), webhook('b')] },
      { a: label('a'), b: allow },
    )
    await mutate(attributes())
    expect(calls).toEqual(['a', 'b'])
  })

  it('are not called again for a patch that changes nothing', async () => {
    const { mutate, calls } = admission(
      { mutating: [webhook('a', { reinvocationPolicy: 'IfNeeded' }), webhook('b')] },
      { a: allow, b: patching({ op: 'replace', path: '/metadata/name', value: 'x' }) },
    )
    await mutate(attributes())
    expect(calls).toEqual(['a', 'b'])
  })

  it('run the built-in plug-ins again on the changed object', async () => {
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
  ])('are rejected for a patch with %s, even when failures are ignored', async (_, operations) => {
    const { mutate } = admission(
      { mutating: [webhook('a', { failurePolicy: 'Ignore' })] },
      { a: patching(...operations) },
    )
    const error = await refusal(mutate(attributes()))
    expect(error).toMatchObject({ code: 500, reason: 'InternalError' })
    expect(error.message).toMatch(/admission webhook "a"|error in remove for path|testing value .* failed/)
  })

  it.each([
    ['not base64', '!!!', 'received invalid webhook response: response.patch is not base64'],
    // Restarting at each blank would take minutes.
    ['blank', `${' '.repeat(500_000)}!`, 'received invalid webhook response: response.patch is not base64'],
    [
      'not JSON',
      Buffer.from('nope').toString('base64'),
      "received undecodable patch in webhook response: invalid character 'n'",
    ],
    [
      'not a list',
      Buffer.from('{}').toString('base64'),
      'received undecodable patch in webhook response: json: cannot unmarshal object',
    ],
  ])('with a patch that is %s count as failed calls', async (_, patch, message) => {
    const handler = (review: JsonObject) => respond(review, { allowed: true, patchType: 'JSONPatch', patch })
    const strict = admission({ mutating: [webhook('a')] }, { a: handler })
    const error = await refusal(strict.mutate(attributes()))
    expect(error.message).toContain(`failed calling webhook "a": ${message}`)
    const lenient = admission({ mutating: [webhook('a', { failurePolicy: 'Ignore' })] }, { a: handler })
    await expect(lenient.mutate(attributes())).resolves.toEqual(attributes().object)
  })

  it('count as failed calls when their kind is not a string', async () => {
    const handler = (review: JsonObject) => ({ ...respond(review, { allowed: true }), kind: { toString: {} } })
    const { mutate } = admission({ mutating: [webhook('a')] }, { a: handler })
    const error = await refusal(mutate(attributes()))
    expect(error.message).toContain('failed calling webhook "a": received invalid webhook response')
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

  it('fail the request if their change does not match the types of the kind', async () => {
    const settle = () => {
      throw new StatusError(400, 'BadRequest', 'data is not a map')
    }
    const { mutate } = admission({ mutating: [webhook('a')] }, { a: label('a') }, { settle })
    expect(await refusal(mutate(attributes()))).toMatchObject({
      code: 500,
      message: 'Internal error occurred: data is not a map',
    })
  })

  it('may not patch an object that is being deleted', async () => {
    const { mutate } = admission({ mutating: [webhook('a')] }, { a: label('a') })
    const error = await refusal(
      mutate(attributes({ operation: 'DELETE', object: undefined, oldObject: { metadata: { name: 'x' } } })),
    )
    expect(error.message).toContain('attempted to modify the object, which is not supported for this operation')
  })
})

describe('validating webhooks', () => {
  it('deny with their code, reason, message and details', async () => {
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

  it('deny with 400 when they give no code, or one that means success', async () => {
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

  it('are all called, and the first denial in order is returned', async () => {
    const deny = (message: string) => (review: JsonObject) => respond(review, { allowed: false, status: { message } })
    const { validate, calls } = admission(
      { validating: [webhook('a'), webhook('b'), webhook('c')] },
      { a: allow, b: deny('second'), c: deny('third') },
    )
    expect((await refusal(validate(attributes()))).message).toContain('second')
    expect(calls).toEqual(['a', 'b', 'c'])
  })

  it('return their warnings, except those with control characters', async () => {
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
      'failed to call webhook: no kind "Pod" is registered for version "admission.k8s.io/v1"',
    ],
    ['a patch', label('a'), 'validating webhook may not return response.patch'],
    [
      'allowed as text',
      (review) => respond(review, { allowed: 'true' }),
      'cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    ['nothing', () => null, 'json parse error'],
    [
      'an exception',
      () => {
        throw new Error('boom')
      },
      'boom',
    ],
  ])('that respond with %s reject the request or are ignored, by their failure policy', async (_, handler, message) => {
    const strict = admission({ validating: [webhook('a')] }, { a: handler })
    const error = await refusal(strict.validate(attributes()))
    expect(error).toMatchObject({ code: 500, reason: 'InternalError' })
    expect(error.message).toContain('Internal error occurred: failed calling webhook "a": ')
    expect(error.message).toContain(message)
    const lenient = admission({ validating: [webhook('a', { failurePolicy: 'Ignore' })] }, { a: handler })
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

  it('are updated when their configuration changes', async () => {
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

  it('has the name of a Namespace as its namespace', async () => {
    const { validate, reviews } = admission({ validating: [webhook('a')] }, { a: allow })
    const namespaces = resource({ plural: 'namespaces', kind: 'Namespace', namespaced: false })
    await validate(attributes({ resource: namespaces, name: 'new', namespace: undefined }))
    expect(reviews[0]).toMatchObject({ request: { name: 'new', namespace: 'new' } })
  })

  it('has the kind of a subresource', async () => {
    const scale = { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: [] }
    const { validate, reviews } = admission({ validating: [webhook('a')] }, { a: allow })
    await validate(
      attributes({ resource: resource({ subresources: [scale] }), subresource: 'scale', object: { kind: 'Scale' } }),
    )
    expect(reviews[0]).toMatchObject({
      request: { kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, subResource: 'scale' },
    })
  })

  it('has the object in the version of the matching rule, and converts the change back to that of the request', async () => {
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
