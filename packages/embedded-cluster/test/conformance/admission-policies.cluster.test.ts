/** ValidatingAdmissionPolicies: what they reject, for whom, and what their status says. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, deployment } from './support/objects.ts'
import { settled } from './support/settling.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const group = '/apis/admissionregistration.k8s.io/v1'
const policies = `${group}/validatingadmissionpolicies`
const bindings = `${group}/validatingadmissionpolicybindings`

let namespace = ''
let name = ''
beforeEach(async () => {
  namespace = await api.newNamespace()
  name = unique('policy')
})
afterEach(async () => {
  await api.delete(`${bindings}/${name}`)
  await api.delete(`${policies}/${name}`)
})

const rule = (resources: string[], apiGroups = ['']) => ({
  apiGroups,
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources,
})

function policy(spec: Json): Json {
  const matchConstraints = { resourceRules: [rule(['configmaps'])] }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints, ...spec },
  }
}

/** A binding for the namespace of the case. */
function binding(spec: Json = {}): Json {
  const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], matchResources, ...spec },
  }
}

async function enforce(spec: Json, bindingSpec: Json = {}): Promise<void> {
  await api.create(policies, policy(spec))
  await api.create(bindings, binding(bindingSpec))
}

const maps = () => `/api/v1/namespaces/${namespace}/configmaps`
const attempt = (data: Json) => api.post(`${maps()}?dryRun=All`, configMap('attempt', { data }))

/** Policies take effect a moment after they are written. */
const rejection = (data: Json) =>
  until('it is rejected', async () => {
    const reply = await attempt(data)
    return reply.status < 400 ? undefined : reply
  })

describe('a ValidatingAdmissionPolicy', () => {
  it('rejects what violates a rule, with the message of the rule', async () => {
    await enforce({ validations: [{ expression: "object.data.size != 'large'", message: 'too large' }] })
    const { status, body } = await rejection({ size: 'large' })
    const message = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: too large`
    expect(status).toBe(422)
    expect(body).toMatchObject({
      reason: 'Invalid',
      message: `configmaps "attempt" is forbidden: ${message}`,
      details: { name: 'attempt', kind: 'configmaps', causes: [{ message }] },
    })
    expect((await attempt({ size: 'small' })).status).toBe(201)
  })

  it.each([
    ['the rule', {}, "failed expression: object.data.size != 'large'"],
    ['the message', { message: 'own words' }, 'own words'],
    ['the message expression', { messageExpression: "'size is ' + object.data.size" }, 'size is large'],
    [
      'the message if the expression fails',
      { message: 'own words', messageExpression: "'size' + object.data.none" },
      'own words',
    ],
  ])('explains itself by %s', async (_, more, expected) => {
    await enforce({ validations: [{ expression: "object.data.size != 'large'", ...more }] })
    const { body } = await rejection({ size: 'large' })
    expect(body.message.endsWith(`denied request: ${expected}`)).toBe(true)
  })

  it('rejects with the reason of its rule', async () => {
    await enforce({ validations: [{ expression: 'false', reason: 'Forbidden' }] })
    const { status, body } = await rejection({})
    expect([status, body.reason]).toEqual([403, 'Forbidden'])
  })

  it('has no effect outside of its binding', async () => {
    await enforce({ validations: [{ expression: 'false' }] })
    await rejection({})
    const elsewhere = `/api/v1/namespaces/${api.namespace}/configmaps?dryRun=All`
    expect((await api.post(elsewhere, configMap('attempt'))).status).toBe(201)
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'attempt' } }
    expect((await api.post(`/api/v1/namespaces/${namespace}/secrets?dryRun=All`, secret)).status).toBe(201)
  })

  it('decides by what the user, or a service account, may do', async () => {
    const robot = `authorizer.serviceAccount('${namespace}', 'robot')`
    const secrets = `.group('').resource('secrets').namespace('${namespace}')`
    await enforce({
      validations: [
        { expression: "authorizer.requestResource.check('create').allowed()", message: 'own request' },
        { expression: `authorizer${secrets}.name('a').subresource('x').check('delete').allowed()`, message: 'secrets' },
        { expression: "authorizer.path('/healthz').check('get').allowed()", message: 'path' },
        { expression: `!${robot}${secrets}.check('get').errored()`, message: 'errored' },
        {
          expression: `!('robot' in object.data) || ${robot}${secrets}.check('get').allowed()`,
          messageExpression: "'robot: ' + request.operation",
        },
      ],
    })
    expect((await rejection({ robot: '' })).body.message).toContain('denied request: robot: CREATE')
    expect((await attempt({ other: '' })).status).toBe(201)
  })

  it('rejects a request when an audit annotation cannot be evaluated', async () => {
    const auditAnnotations = [
      { key: 'size', valueExpression: "'size is ' + object.data.size" },
      { key: 'none', valueExpression: 'null' },
    ]
    await enforce({ auditAnnotations })
    const { body } = await rejection({})
    expect(body.message).toContain(
      "denied request: expression ''size is ' + object.data.size' resulted in error: no such",
    )
    expect((await attempt({ size: '1' })).status).toBe(201)
  })

  it('uses variables, the namespace, the request and the old object', async () => {
    await enforce({
      variables: [
        { name: 'size', expression: "'size' in object.data ? int(object.data.size) : 0" },
        { name: 'isHuge', expression: 'variables.size > 100' },
        { name: 'unused', expression: 'object.data.none' },
      ],
      validations: [
        { expression: '!variables.isHuge', message: 'huge' },
        { expression: `namespaceObject.metadata.name == '${namespace}'` },
        { expression: "request.operation == 'CREATE' || object.data.size == oldObject.data.size", message: 'fixed' },
      ],
    })
    expect((await rejection({ size: '101' })).body.message).toContain('denied request: huge')
    await api.create(maps(), configMap('stored', { data: { size: '1' } }))
    const changed = await api.patch(`${maps()}/stored`, { data: { size: '2' } })
    expect(changed.body.message).toContain('denied request: fixed')
    expect((await api.patch(`${maps()}/stored`, { data: { other: '2' } })).status).toBe(200)
  })

  it('applies only where its conditions hold', async () => {
    await enforce({
      matchConditions: [{ name: 'strict', expression: "has(object.data) && 'strict' in object.data" }],
      validations: [{ expression: 'false' }],
    })
    await rejection({ strict: 'yes' })
    expect((await attempt({ lax: 'yes' })).status).toBe(201)
  })

  it.each([
    ['rejects', 'Fail', 422],
    ['admits', 'Ignore', 201],
  ])('%s if a rule fails and the failure policy is %s', async (_, failurePolicy, expected) => {
    await enforce({
      failurePolicy,
      validations: [
        { expression: "!('marker' in object.data)" },
        { expression: "'marker' in object.data || object.data.none == 'x'" },
      ],
    })
    await rejection({ marker: 'yes' })
    const { status, body } = await attempt({ other: 'yes' })
    expect(status).toBe(expected)
    if (status === 422) expect(body.message).toContain('resulted in error: no such key: none')
  })

  it('warns instead of rejecting if its binding says so', async () => {
    await enforce(
      { validations: [{ expression: "object.data.size != 'large'", message: 'too large' }] },
      { validationActions: ['Warn'] },
    )
    const warning = await until('it warns', async () => {
      const { status, headers } = await attempt({ size: 'large' })
      expect(status).toBe(201)
      return headers.warning
    })
    const where = `ValidatingAdmissionPolicy '${name}' with binding '${name}'`
    expect(String(warning)).toContain(`Validation failed for ${where}: too large`)
  })

  it('reads its parameters from another object', async () => {
    await api.create(maps(), configMap('limits', { data: { max: '3' } }))
    await enforce(
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        validations: [{ expression: "!('size' in object.data) || int(object.data.size) <= int(params.data.max)" }],
      },
      { paramRef: { name: 'limits', namespace, parameterNotFoundAction: 'Deny' } },
    )
    // It takes a moment until the server has read the parameters.
    await until('it is admitted', async () => (await attempt({ size: '3' })).status === 201)
    await rejection({ size: '4' })
    await api.delete(`${maps()}/limits`)
    const missing = await until('the parameters are gone', async () => {
      const reply = await attempt({ size: '3' })
      return reply.status === 201 ? undefined : reply
    })
    expect(missing.body.message).toContain('no params found for policy binding with `Deny` parameterNotFoundAction')
  })

  it('gets its defaults', async () => {
    const { spec } = await api.create(policies, policy({ validations: [{ expression: 'true' }] }))
    expect(spec).toEqual({
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ ...rule(['configmaps']), scope: '*' }],
      },
      validations: [{ expression: 'true' }],
    })
  })

  it.each<[string, Json, string]>([
    ['without rules', {}, 'validations or auditAnnotations must contain at least one item'],
    [
      'without constraints',
      { matchConstraints: null, validations: [{ expression: 'true' }] },
      'spec.matchConstraints: Required value',
    ],
    [
      'with a message that asks the authorizer',
      { validations: [{ expression: 'true', messageExpression: "authorizer.path('/a').check('get').reason()" }] },
      "undeclared reference to 'authorizer'",
    ],
    ['with an unknown name', { validations: [{ expression: 'nobody == 1' }] }, "undeclared reference to 'nobody'"],
    [
      'with a message that is not a text',
      { validations: [{ expression: 'true', messageExpression: 'object.data.none' }] },
      'must evaluate to string but got dyn',
    ],
    [
      'with a rule that is not a condition',
      { validations: [{ expression: "'text'" }] },
      'must evaluate to bool but got string',
    ],
    [
      'with an unknown reason',
      { validations: [{ expression: 'true', reason: 'Why' }] },
      'spec.validations[0].reason: Unsupported value: "Why"',
    ],
  ])('%s is rejected', async (_, spec, expected) => {
    const { status, body } = await api.post(policies, policy(spec))
    expect(status).toBe(422)
    expect(body.message).toContain(expected)
  })

  it('reports in its status that types do not fit', async () => {
    const expression = "object.spec.replicas > '1'"
    const matchConstraints = { resourceRules: [rule(['deployments'], ['apps'])] }
    await api.create(policies, policy({ matchConstraints, validations: [{ expression }] }))
    const { status } = await settled(
      api,
      'it is checked',
      `${policies}/${name}`,
      (it) => it.status?.typeChecking !== undefined,
    )
    expect(status.observedGeneration).toBe(1)
    const [warning] = status.typeChecking.expressionWarnings
    expect(warning.fieldRef).toBe('spec.validations[0].expression')
    expect(warning.warning).toContain(
      "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_'",
    )
  })

  it('reports nothing about rules whose types fit', async () => {
    const matchConstraints = { resourceRules: [rule(['deployments'], ['apps'])] }
    await api.create(policies, policy({ matchConstraints, validations: [{ expression: 'object.spec.replicas > 1' }] }))
    const { status } = await settled(
      api,
      'it is checked',
      `${policies}/${name}`,
      (it) => it.status?.typeChecking !== undefined,
    )
    expect(status.typeChecking).toEqual({})
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments?dryRun=All`
    expect((await api.post(path, deployment('web', { replicas: 1 }))).status).toBe(201)
  })
})
