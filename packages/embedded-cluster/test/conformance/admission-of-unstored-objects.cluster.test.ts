/** Admission of objects that are not stored, and of subresources with their own kind. */
import { describe, expect, it } from 'vitest'
import { type AdmissionWebhook, admissionWebhook, patching } from './support/admission-webhook.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { deployment, deployments, pod, pods } from './support/objects.ts'

const api = ConformanceApi.forThisFile()

/** A webhook for one resource, with a dry-run write that probes it. */
function webhookFor(
  kind: 'mutating' | 'validating',
  namespace: string,
  rule: Json,
  probe: () => Promise<unknown>,
  isNamespaced = true,
): Promise<AdmissionWebhook> {
  const entry = isNamespaced ? {} : { namespaceSelector: {} }
  return admissionWebhook(api, kind, namespace, { rule, entry, probe })
}

function withoutTimes({ metadata: { creationTimestamp: _, ...metadata }, ...object }: Json): Json {
  return { ...object, metadata }
}

describe('a write of a Scale', () => {
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'] }

  async function scaled(namespace: string) {
    const { metadata } = await api.create(deployments(namespace), deployment(unique('web')))
    const path = `${deployments(namespace)}/${metadata.name}/scale`
    return { path, probe: () => api.patch(`${path}?dryRun=All`, { spec: { replicas: 1 } }), name: metadata.name }
  }

  it('is sent as a Scale to validating webhooks', async () => {
    const namespace = await api.newNamespace()
    const { path, probe, name } = await scaled(namespace)
    await using webhook = await webhookFor('validating', namespace, rule, probe)
    await api.patch(`${path}?dryRun=All`, { spec: { replicas: 2 } })
    const [request] = webhook.requests
    expect(request).toMatchObject({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      subResource: 'scale',
      operation: 'UPDATE',
      name,
    })
    expect(request.object).toMatchObject({ kind: 'Scale', spec: { replicas: 2 }, status: { selector: `app=${name}` } })
    expect(request.object.metadata).not.toHaveProperty('managedFields')
    expect(request.oldObject).toMatchObject({ kind: 'Scale', spec: {} })
  })

  it('is sent with the owners of the replicas to mutating webhooks', async () => {
    const namespace = await api.newNamespace()
    const { path, probe } = await scaled(namespace)
    await using webhook = await webhookFor('mutating', namespace, rule, probe)
    webhook.verdict = patching({ op: 'replace', path: '/spec/replicas', value: 0 })
    const { status, body } = await api.patch(`${path}?fieldManager=alice&dryRun=All`, { spec: { replicas: 2 } })
    expect([status, body.spec]).toEqual([200, {}])
    const [request] = webhook.requests
    expect(request.object.metadata.managedFields).toMatchObject([
      { manager: 'alice', apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ])
  })
})

describe('a request for a token', () => {
  const tokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 600 },
  }
  const rule = { apiVersions: ['v1'], resources: ['serviceaccounts/token'] }

  async function account(namespace: string) {
    const name = unique('account')
    await api.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } })
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
    return { path, name, probe: () => api.post(path, tokenRequest) }
  }

  it('is sent to mutating webhooks as the client sent it', async () => {
    const namespace = await api.newNamespace()
    const { path, probe, name } = await account(namespace)
    await using webhook = await webhookFor('mutating', namespace, rule, probe)
    webhook.verdict = patching({ op: 'replace', path: '/spec/expirationSeconds', value: 700 })
    const { body } = await api.post(path, tokenRequest)
    expect(body.spec.expirationSeconds).toBe(700)
    const [{ object, ...request }] = webhook.requests
    expect(request).toMatchObject({ kind: { kind: 'TokenRequest' }, name, subResource: 'token', operation: 'CREATE' })
    expect(object.spec).toEqual({ audiences: null, expirationSeconds: 600, boundObjectRef: null })
    expect(object.status).toEqual({ token: '', expirationTimestamp: null })
  })

  it('is validated complete except for the token, and can be denied', async () => {
    const namespace = await api.newNamespace()
    const { path, probe, name } = await account(namespace)
    await using webhook = await webhookFor('validating', namespace, rule, probe)
    webhook.verdict = () => ({ allowed: false, status: { message: 'no tokens' } })
    const { status, body } = await api.post(path, tokenRequest)
    expect(status).toBe(400)
    expect(body.message).toBe('admission webhook "hook.example.com" denied the request: no tokens')
    const [{ object }] = webhook.requests
    expect(object.metadata).toMatchObject({ name, namespace })
    expect(object.spec.audiences).toHaveLength(1)
    expect(object.status).toEqual({ token: '', expirationTimestamp: null })
  })
})

describe('a review', () => {
  it.each([
    [
      'authentication.k8s.io',
      'TokenReview',
      'tokenreviews',
      { spec: { token: 'none' } },
      { spec: { token: 'none' }, status: { user: {} } },
    ],
    ['authentication.k8s.io', 'SelfSubjectReview', 'selfsubjectreviews', {}, { status: { userInfo: {} } }],
    [
      'authorization.k8s.io',
      'SelfSubjectRulesReview',
      'selfsubjectrulesreviews',
      { spec: { namespace: 'default' } },
      { spec: { namespace: 'default' }, status: { resourceRules: null, nonResourceRules: null, incomplete: false } },
    ],
  ])('of %s, a %s, is sent to webhooks and can be denied', async (group, kind, plural, sent, shown) => {
    const apiVersion = `${group}/v1`
    const path = `/apis/${apiVersion}/${plural}`
    const rule = { apiGroups: [group], apiVersions: ['v1'], resources: [plural] }
    const probe = () => api.post(path, { apiVersion, kind, ...sent })
    await using webhook = await webhookFor('validating', '', rule, probe, false)
    webhook.verdict = ({ userInfo }) => ({ allowed: userInfo.username === 'nobody', status: { message: 'not now' } })
    const { status, body } = await probe()
    expect([status, body.message]).toEqual([400, 'admission webhook "hook.example.com" denied the request: not now'])
    const [{ object, operation }] = webhook.requests
    expect(operation).toBe('CREATE')
    const { managedFields: _, ...metadata } = object.metadata
    expect(withoutTimes({ ...object, metadata })).toEqual({ apiVersion, kind, metadata: {}, ...shown })
  })
})

describe('a binding', () => {
  async function unscheduled(namespace: string): Promise<string> {
    const { metadata } = await api.create(pods(namespace), pod(unique('pod'), { spec: { schedulerName: 'nobody' } }))
    return metadata.name
  }

  it('that is posted to the collection is sent as its own resource', async () => {
    const namespace = await api.newNamespace()
    const path = `/api/v1/namespaces/${namespace}/bindings`
    const probe = () => api.post(path, { metadata: { name: 'missing' }, target: { name: 'none' } })
    await using webhook = await webhookFor('validating', namespace, { resources: ['bindings'] }, probe)
    const name = await unscheduled(namespace)
    const { status } = await api.post(path, { metadata: { name }, target: { kind: 'Node', name: 'none' } })
    expect(status).toBe(201)
    const request = webhook.requests.find((asked) => asked.name === name)
    expect(request.resource).toEqual({ group: '', version: 'v1', resource: 'bindings' })
    expect(request).not.toHaveProperty('subResource')
    expect(request.object).toMatchObject({ metadata: { name, namespace }, target: { kind: 'Node', name: 'none' } })
  })

  it('copies its labels and annotations to the pod, whose generation stays', async () => {
    const name = await unscheduled(api.namespace)
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, labels: { zone: 'a' }, annotations: { why: 'room' } },
      target: { kind: 'Node', name: 'none' },
    }
    expect((await api.post(`${pods(api.namespace)}/${name}/binding`, binding)).status).toBe(201)
    const { metadata } = (await api.get(`${pods(api.namespace)}/${name}`)).body
    expect(metadata).toMatchObject({ labels: { zone: 'a' }, annotations: { why: 'room' }, generation: 1 })
  })
})

describe('a connection into a pod', () => {
  it('can be denied', async () => {
    const namespace = await api.newNamespace()
    const { metadata } = await api.create(pods(namespace), pod(unique('pod'), { spec: { schedulerName: 'nobody' } }))
    const path = `${pods(namespace)}/${metadata.name}/exec?command=ls&command=-l&stdout=true&container=main`
    const probe = () => api.post(path, undefined)
    await using webhook = await webhookFor('validating', namespace, { resources: ['pods/exec'] }, probe)
    webhook.verdict = () => ({ allowed: false, status: { message: 'nobody goes in' } })
    const { status, body } = await probe()
    expect([status, body.message]).toEqual([
      400,
      'admission webhook "hook.example.com" denied the request: nobody goes in',
    ])
    const [{ operation, object, options }] = webhook.requests
    expect([operation, options]).toEqual(['CONNECT', null])
    expect(object).toEqual({
      kind: 'PodExecOptions',
      apiVersion: 'v1',
      stdout: true,
      container: 'main',
      command: ['ls', '-l'],
    })
  })
})
