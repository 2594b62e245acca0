import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes } from '../api/admission-plugin.ts'
import type { JsonObject } from '../json.ts'
import { admission, allow, attributes, refusal, resource, webhook } from './testing/webhook-admission.ts'
import { respond } from './testing/webhook-server.ts'

describe('matching webhooks', () => {
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
    ['a subresource, for a request on the resource', rule({}), { subresource: 'status' }, false],
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

  it('never calls webhooks for webhook configurations', async () => {
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

  it('rejects a dry run for webhooks with side effects', async () => {
    const { validate, calls } = admission({ validating: [webhook('a', { sideEffects: 'Some' })] }, { a: allow })
    expect(await refusal(validate(attributes({ dryRun: true })))).toMatchObject({
      code: 400,
      message: 'admission webhook "a" does not support dry run',
    })
    expect(calls).toEqual([])
  })

  it('calls the webhook only if every match condition is true', async () => {
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

  it('supports CEL over the request and its objects', async () => {
    const run = async (expression: string) => {
      const matchConditions = [{ name: 'c', expression }]
      const { validate, calls } = admission({ validating: [webhook('a', { matchConditions })] }, { a: allow })
      await validate(
        attributes({
          object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels: { app: 'x' } }, data: { n: '3' } },
        }),
      )
      return calls.length
    }
    expect(await run('object.metadata.labels["app"] == "x"')).toBe(1)
    expect(await run('request.userInfo.username.startsWith("system:")')).toBe(0)
    expect(await run('"devs" in request.userInfo.groups && oldObject == null')).toBe(1)
    expect(await run('!has(object.spec) && int(object.data.n) > 2')).toBe(1)
    expect(await refusal(run('object.spec.a == 1'))).toMatchObject({ code: 403 })
    expect(await refusal(run('nonsense'))).toMatchObject({ code: 403 })
    expect(await refusal(run('"text"'))).toMatchObject({ code: 403 })
  })
})
