/** Validating webhooks: the reviews they get, and the effect of their responses on the request. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AdmissionWebhook, admissionWebhook, allow, PROBE_LABELS } from './support/admission-webhook.ts'
import { ApiResource, clusterResourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { failure } from './support/status.ts'
import { warningsOf } from './support/warnings.ts'

const api = ConformanceApi.forThisFile()

/** ConfigMaps in a separate namespace, so that webhooks of other cases are not called for them. */
async function newConfigMaps(): Promise<{ configMaps: ApiResource; namespace: string }> {
  const namespace = await api.newNamespace()
  const place = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespace: () => namespace }
  return { configMaps: new ApiResource(api, place), namespace }
}

describe('a validating webhook', () => {
  let configMaps: ApiResource
  let namespace: string
  let webhook: AdmissionWebhook
  beforeAll(async () => {
    ;({ configMaps, namespace } = await newConfigMaps())
    webhook = await admissionWebhook(api, 'validating', namespace)
  })
  afterAll(() => webhook[Symbol.asyncDispose]())
  beforeEach(() => {
    webhook.verdict = allow
    webhook.requests.length = 0
  })

  it('gets user, operation and object', async () => {
    await configMaps.given('created', { data: { a: '1' } }, { query: 'fieldManager=alice&fieldValidation=Strict' })
    expect(webhook.requests).toMatchObject([
      {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
        requestResource: { group: '', version: 'v1', resource: 'configmaps' },
        name: 'created',
        namespace,
        operation: 'CREATE',
        userInfo: { username: expect.any(String), groups: expect.arrayContaining(['system:authenticated']) },
        object: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'created', namespace, uid: expect.any(String), managedFields: [{ manager: 'alice' }] },
          data: { a: '1' },
        },
        oldObject: null,
        dryRun: false,
        options: {
          apiVersion: 'meta.k8s.io/v1',
          kind: 'CreateOptions',
          fieldManager: 'alice',
          fieldValidation: 'Strict',
        },
      },
    ])
    expect(webhook.requests[0].subResource).toBeUndefined()
  })

  it('gets a patch as an update with the result', async () => {
    await configMaps.given('patched', { data: { a: '1' } })
    await configMaps.patch('merge', 'patched', { data: { b: '2' } })
    expect(webhook.requests[1]).toMatchObject({
      operation: 'UPDATE',
      name: 'patched',
      object: { data: { a: '1', b: '2' } },
      oldObject: { data: { a: '1' } },
      options: { kind: 'UpdateOptions' },
    })
  })

  it('gets an apply that creates as a create', async () => {
    await configMaps.apply('alice', 'applied', { data: { a: '1' } })
    await configMaps.apply('alice', 'applied', { data: { a: '2' } })
    expect(webhook.requests).toMatchObject([
      { operation: 'CREATE', options: { kind: 'CreateOptions', fieldManager: 'alice' } },
      { operation: 'UPDATE', options: { kind: 'UpdateOptions', fieldManager: 'alice' } },
    ])
  })

  it('is called for an update that changes nothing', async () => {
    const created = await configMaps.given('unchanged', { data: { a: '1' } })
    await configMaps.replace('unchanged', created)
    expect(webhook.requests.map(({ operation }) => operation)).toEqual(['CREATE', 'UPDATE'])
  })

  it('gets the last state of a deleted object', async () => {
    await configMaps.given('deleted', { data: { a: '1' } })
    await configMaps.delete('deleted', { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' })
    expect(webhook.requests[1]).toMatchObject({
      operation: 'DELETE',
      name: 'deleted',
      object: null,
      oldObject: { metadata: { name: 'deleted' }, data: { a: '1' } },
      options: { kind: 'DeleteOptions', propagationPolicy: 'Background' },
    })
  })

  it('is called for each object of a deleted collection', async () => {
    const label = unique('group')
    for (const name of ['a', 'b']) await configMaps.given(`${label}-${name}`, { metadata: { labels: { label } } })
    webhook.requests.length = 0
    await api.delete(configMaps.path(undefined, { query: `labelSelector=label%3D${label}` }))
    expect(webhook.requests.map(({ operation, oldObject }) => [operation, oldObject.metadata.name]).sort()).toEqual([
      ['DELETE', `${label}-a`],
      ['DELETE', `${label}-b`],
    ])
    expect(webhook.requests.map(({ name }) => name)).toEqual([undefined, undefined])
  })

  it('gets the generated name of the object', async () => {
    await api.create(configMaps.path(), { metadata: { generateName: 'made-' } })
    expect(webhook.requests).toMatchObject([
      { name: expect.stringMatching(/^made-.{5}$/), object: { metadata: { generateName: 'made-' } } },
    ])
  })

  it('gets dry runs marked as such', async () => {
    await configMaps.create('trial', {}, { query: 'dryRun=All' })
    expect(webhook.requests).toMatchObject([{ dryRun: true, options: { dryRun: ['All'] } }])
  })

  it.each<[string, Json, Json]>([
    ['without a reason', {}, { code: 400, message: ' without explanation' }],
    ['with a message', { message: 'no' }, { code: 400, message: ': no' }],
    ['with a code', { code: 418, message: 'no' }, { code: 418, message: ': no' }],
    ['with a reason', { code: 403, reason: 'Forbidden' }, { code: 403, reason: 'Forbidden', message: ': Forbidden' }],
    [
      'with details',
      { code: 422, reason: 'Invalid', message: 'no', details: { causes: [{ field: 'data.a', message: 'bad' }] } },
      {
        code: 422,
        reason: 'Invalid',
        message: ': no',
        details: { causes: [{ field: 'data.a', message: 'bad' }] },
      },
    ],
  ])('denies %s', async (_, status, { message, ...expected }) => {
    webhook.verdict = () => ({ allowed: false, status })
    const reply = await configMaps.create('denied')
    expect(reply.status).toBe(expected.code)
    expect(reply.body).toEqual(
      failure({ ...expected, message: `admission webhook "hook.example.com" denied the request${message}` }),
    )
    expect((await configMaps.get('denied')).status).toBe(404)
  })

  it('can prevent the deletion of an object', async () => {
    await configMaps.given('protected')
    webhook.verdict = ({ operation }) => ({ allowed: operation !== 'DELETE' })
    expect((await configMaps.delete('protected')).status).toBe(400)
    expect((await configMaps.get('protected')).status).toBe(200)
  })

  it('returns warnings, also with a denial', async () => {
    webhook.verdict = () => ({ allowed: true, warnings: ['first', 'second "quoted"'] })
    expect(warningsOf(await configMaps.create('warned'))).toEqual(['first', 'second "quoted"'])
    webhook.verdict = () => ({ allowed: false, warnings: ['third'] })
    expect(warningsOf(await configMaps.create('warned-too'))).toEqual(['third'])
  })

  it('cannot change the object', async () => {
    const patch = Buffer.from('[]').toString('base64')
    webhook.verdict = () => ({ allowed: true, patchType: 'JSONPatch', patch })
    const { status, body } = await configMaps.create('changed')
    expect(status).toBe(500)
    expect(body.message).toBe(
      'Internal error occurred: failed calling webhook "hook.example.com": received invalid webhook response: validating webhook may not return response.patch',
    )
  })

  it.each<[string, Json, string]>([
    ['nothing', '', 'failed to call webhook: 0-length response with status code: 200 and content type: '],
    ['another uid', { allowed: true, uid: 'other' }, 'received invalid webhook response: expected response.uid='],
    [
      'no response',
      { raw: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } },
      'received invalid webhook response: webhook response was absent',
    ],
    ['another kind', { raw: { apiVersion: 'v1', kind: 'ConfigMap' } }, 'failed to call webhook: '],
  ])('that responds with %s fails the request', async (_, verdict, message) => {
    webhook.verdict = () => verdict
    const { status, body } = await configMaps.create('failed')
    expect(status).toBe(500)
    expect(body.reason).toBe('InternalError')
    expect(body.message).toContain(`Internal error occurred: failed calling webhook "hook.example.com": ${message}`)
  })
})

describe('a webhook is called only for', () => {
  it('the operations of its rule', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    const rule = { operations: ['CREATE'] }
    await using webhook = await admissionWebhook(api, 'validating', namespace, { rule })
    await configMaps.given('x')
    await configMaps.patch('merge', 'x', { data: { a: '1' } })
    await configMaps.delete('x')
    expect(webhook.requests.map(({ operation }) => operation)).toEqual(['CREATE'])
  })

  it('the namespaces it selects', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    const elsewhere = await newConfigMaps()
    await using webhook = await admissionWebhook(api, 'validating', namespace)
    await elsewhere.configMaps.given('x')
    await configMaps.given('x')
    expect(webhook.requests.map((request) => request.namespace)).toEqual([namespace])
  })

  it('the objects it selects, before or after the change', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    const entry = { objectSelector: { matchLabels: PROBE_LABELS } }
    await using webhook = await admissionWebhook(api, 'validating', namespace, { entry })
    await configMaps.given('selected', { metadata: { labels: PROBE_LABELS } })
    await configMaps.patch('merge', 'selected', { metadata: { labels: { probe: 'no' } } })
    await configMaps.patch('merge', 'selected', { data: { a: '1' } })
    await configMaps.patch('merge', 'selected', { metadata: { labels: PROBE_LABELS } })
    await configMaps.given('other')
    expect(webhook.requests.map(({ operation }) => operation)).toEqual(['CREATE', 'UPDATE', 'UPDATE'])
  })

  it('the resources of its rule, which do not include subresources', async () => {
    const { namespace } = await newConfigMaps()
    const place = { apiVersion: 'v1', kind: 'ReplicationController', plural: 'replicationcontrollers' }
    const controllers = new ApiResource(api, { ...place, namespace: () => namespace })
    const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'a', image: 'a' }] } }
    const spec = { replicas: 0, selector: { app: 'x' }, template }
    await controllers.given('x', { spec })
    await using webhook = await admissionWebhook(api, 'validating', namespace, {
      rule: { resources: ['replicationcontrollers/scale'] },
      probe: () =>
        controllers.patch('merge', 'x', { spec: { replicas: 0 } }, { subresource: 'scale', query: 'dryRun=All' }),
    })
    await controllers.patch('merge', 'x', { metadata: { labels: { a: 'b' } } })
    await controllers.patch('merge', 'x', { spec: { replicas: 1 } }, { subresource: 'scale' })
    expect(webhook.requests).toMatchObject([
      {
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { group: '', version: 'v1', resource: 'replicationcontrollers' },
        subResource: 'scale',
        object: { kind: 'Scale', spec: { replicas: 1 } },
        oldObject: { kind: 'Scale', spec: {} },
      },
    ])
  })

  it('cluster-scoped objects, with that scope, by their own labels', async () => {
    const label = unique('scope')
    const namespaces = clusterResourceOf(api, 'v1', 'Namespace', 'namespaces')
    const probe = () => namespaces.create('probe', { metadata: { labels: { label } } }, { query: 'dryRun=All' })
    await using webhook = await admissionWebhook(api, 'validating', '', {
      rule: { resources: ['*'], scope: 'Cluster' },
      entry: { namespaceSelector: { matchLabels: { label } } },
      probe,
    })
    await probe()
    await namespaces.create('other', {}, { query: 'dryRun=All' })
    expect(webhook.requests.map(({ name, resource }) => [name, resource.resource])).toEqual([['probe', 'namespaces']])
  })

  it('requests that match its conditions', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    const entry = {
      matchConditions: [
        { name: 'not-excluded', expression: '!has(object.data) || !("skip" in object.data)' },
        { name: 'not-by-nobody', expression: 'request.userInfo.username != "nobody"' },
      ],
    }
    await using webhook = await admissionWebhook(api, 'validating', namespace, { entry })
    await configMaps.given('asked', { data: { a: '1' } })
    await configMaps.given('skipped', { data: { skip: '1' } })
    expect(webhook.requests.map(({ name }) => name)).toEqual(['asked'])
  })

  it('requests by what their user, or a service account, may do', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    const robot = `authorizer.serviceAccount('${namespace}', 'robot').group('').resource('configmaps')`
    const entry = {
      matchConditions: [
        { name: 'own-request', expression: 'authorizer.requestResource.check("create").allowed()' },
        { name: 'path', expression: 'authorizer.path("/healthz").check("get").allowed()' },
        // The account may do nothing, so that the name of the object decides.
        {
          name: 'robot',
          expression: `object.metadata.name != 'skipped' || ${robot}.namespace('${namespace}').check('get').allowed()`,
        },
      ],
    }
    await using webhook = await admissionWebhook(api, 'validating', namespace, { entry })
    await configMaps.given('asked')
    await configMaps.given('skipped')
    expect(webhook.requests.map(({ name }) => name)).toEqual(['asked'])
  })
})

describe('a webhook that fails', () => {
  it('is ignored if its failure policy is Ignore', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    const entry = { failurePolicy: 'Ignore' }
    await using webhook = await admissionWebhook(api, 'validating', namespace, { entry })
    webhook.verdict = () => 'no JSON'
    expect((await configMaps.create('ignored')).status).toBe(201)
    webhook.verdict = () => ({ allowed: false })
    expect((await configMaps.create('denied')).status).toBe(400)
  })

  it('with a timeout fails the request', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    await using webhook = await admissionWebhook(api, 'validating', namespace, { entry: { timeoutSeconds: 1 } })
    webhook.verdict = () => undefined
    const { status, body } = await configMaps.create('slow')
    expect(status).toBe(500)
    expect(body.message).toMatch(
      /^Internal error occurred: failed calling webhook "hook\.example\.com": failed to call webhook: Post "https:\/\/127\.0\.0\.1:\d+\/review\?timeout=1s": context deadline exceeded$/,
    )
  })

  it('in its condition fails the request, or is ignored', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    const matchConditions = [
      { name: 'broken', expression: 'object.metadata.name == "webhook-probe" || object.nothing.more' },
    ]
    await using webhook = await admissionWebhook(api, 'validating', namespace, { entry: { matchConditions } })
    const { status, body } = await configMaps.create('x')
    expect(status).toBe(403)
    expect(body.message).toContain('no such key: nothing')
    expect(webhook.requests).toEqual([])
  })
})

describe('several webhooks', () => {
  it('are all called, and one is sufficient to deny', async () => {
    const { configMaps, namespace } = await newConfigMaps()
    await using first = await admissionWebhook(api, 'validating', namespace, { prefix: 'a' })
    await using second = await admissionWebhook(api, 'validating', namespace, { prefix: 'b' })
    first.requests.length = 0
    await configMaps.given('both')
    expect([first.requests.length, second.requests.length]).toEqual([1, 1])
    second.verdict = () => ({ allowed: false, status: { message: 'no' } })
    expect((await configMaps.create('denied')).body.message).toBe(
      'admission webhook "hook.example.com" denied the request: no',
    )
  })
})
