/** CEL rules in definitions, and match conditions of webhooks. Passes on both clusters. */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { respond } from '../src/admission/testing/webhook-server.ts'
import type { JsonObject } from '../src/index.ts'
import { DEFINITIONS, definition, establish, uniqueGroup } from './support/definition.ts'
import { installWebhook } from './support/webhook.ts'

let cluster: ClusterUnderTest
let namespace: string
beforeAll(async () => {
  cluster = await openCluster()
  namespace = await cluster.createNamespace()
})
afterAll(() => cluster.close())

const schemaWith = (validations: JsonObject[], properties: JsonObject = {}): JsonObject => ({
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { min: { type: 'integer' }, max: { type: 'integer' }, name: { type: 'string' }, ...properties },
        'x-kubernetes-validations': validations,
      },
    },
  },
})

describe('a definition', () => {
  it.each<[string, JsonObject, string]>([
    [
      'an unknown field',
      { rule: 'self.zz == 1' },
      "compilation failed: ERROR: <input>:1:5: undefined field 'zz'\n | self.zz == 1\n | ....^",
    ],
    [
      'an unknown variable',
      { rule: 'nothing > 1' },
      "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n | nothing > 1\n | ^",
    ],
    ['a rule that is not boolean', { rule: 'self.min + 1' }, 'cel expression must evaluate to a bool'],
  ])('is rejected for %s', async (_, rule, message) => {
    const body = definition(uniqueGroup(), { version: { schema: schemaWith([rule]) } })
    const { status, json } = await cluster.raw.send({ method: 'POST', path: DEFINITIONS, body })
    expect(status).toBe(422)
    expect(json().message).toContain(
      'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: ',
    )
    expect(json().message).toContain(message)
  })
})

describe('rules', () => {
  let group: string
  beforeAll(async () => {
    group = uniqueGroup()
    const schema = schemaWith([
      { rule: 'self.min <= self.max', message: 'min must not exceed max' },
      {
        rule: '!has(self.name) || self.name.startsWith("w-")',
        messageExpression: '"a name starts with w-, not " + self.name',
        reason: 'FieldValueForbidden',
        fieldPath: '.name',
      },
      { rule: 'self.max >= oldSelf.max', message: 'max never shrinks' },
    ])
    await establish(cluster, group, { version: { schema } })
  })

  const path = (rest = '') => `/apis/${group}/v1/namespaces/${namespace}/widgets${rest}`
  const create = (name: string, spec: JsonObject) =>
    cluster.raw.send({
      method: 'POST',
      path: path(),
      body: { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name }, spec },
    })

  it('accept valid objects', async () => {
    expect((await create('good', { min: 1, max: 2, name: 'w-1' })).status).toBe(201)
  })

  it('reject others with their own message', async () => {
    const { status, json } = await create('bad', { min: 3, max: 2 })
    expect(status).toBe(422)
    expect(json().message).toMatch(/^Widget\.\S+ "bad" is invalid: spec: Invalid value: .*min must not exceed max$/)
  })

  it('may specify field, reason and message', async () => {
    const { json } = await create('named', { min: 1, max: 2, name: 'x' })
    expect(json()).toMatchObject({
      message: `Widget.${group} "named" is invalid: spec.name: Forbidden: a name starts with w-, not x`,
      details: { causes: [{ reason: 'FieldValueForbidden', field: 'spec.name' }] },
    })
  })

  it('may compare with the old object', async () => {
    await create('shrink', { min: 1, max: 5 })
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patch = (spec: JsonObject) =>
      cluster.raw.send({ method: 'PATCH', path: path('/shrink'), body: { spec }, headers })
    expect((await patch({ max: 6 })).status).toBe(200)
    const { status, json } = await patch({ max: 4 })
    expect(status).toBe(422)
    expect(json().message).toContain('max never shrinks')
  })

  it('are not evaluated until the object matches the schema', async () => {
    const { json } = await create('types', { min: 'x', max: 2 })
    expect(json().message).toContain(
      'spec.min: Invalid value: "string": spec.min in body must be of type integer: "string"',
    )
    expect(json().message).toContain(
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    )
  })
})

describe('match conditions', () => {
  it('determine whether a webhook is called', async () => {
    const own = await cluster.createNamespace()
    // The probe that waits for the webhook has the label probe.
    const matchConditions = [
      {
        name: 'marked',
        expression:
          'has(object.metadata.labels) && ("probe" in object.metadata.labels || "ask" in object.metadata.labels)',
      },
    ]
    await using hook = await installWebhook(cluster, 'validating', own, { matchConditions })
    hook.answer = (review) => respond(review, { allowed: false })
    const create = (name: string, labels?: JsonObject) =>
      cluster.raw.send({
        method: 'POST',
        path: `/api/v1/namespaces/${own}/configmaps`,
        body: { metadata: { name, ...(labels === undefined ? {} : { labels }) } },
      })
    expect((await create('plain')).status).toBe(201)
    expect((await create('asked', { ask: 'yes' })).status).toBe(400)
    expect(hook.requests.map(({ name }) => name)).toEqual(['asked'])
  })

  it('that fail reject the request', async () => {
    const own = await cluster.createNamespace()
    const matchConditions = [{ name: 'probe', expression: 'has(object.metadata.labels) || object.data.foo == "a"' }]
    await using _hook = await installWebhook(cluster, 'validating', own, { matchConditions })
    const { status, json } = await cluster.raw.send({
      method: 'POST',
      path: `/api/v1/namespaces/${own}/configmaps`,
      body: { metadata: { name: 'w' } },
    })
    expect(status).toBe(403)
    expect(json().message).toBe(
      `configmaps "w" is forbidden: expression 'has(object.metadata.labels) || object.data.foo == "a"' resulted in error: no such key: data`,
    )
  })
})
