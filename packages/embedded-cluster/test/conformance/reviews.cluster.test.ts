/** Reviews: requests about permissions and tokens that are not stored. */
import { beforeAll, describe, expect, it } from 'vitest'
import { resourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { grant, impersonating } from './support/identity.ts'
import { badRequest, failure, methodNotAllowed } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const accounts = resourceOf(api, 'v1', 'ServiceAccount', 'serviceaccounts')
const AUTHORIZATION = '/apis/authorization.k8s.io/v1'
const AUTHENTICATION = '/apis/authentication.k8s.io/v1'

const review = (kind: string, spec: Json) => api.post(`${AUTHORIZATION}/${kind}`, { spec })

let reader: string
beforeAll(async () => {
  reader = await grant(api, {
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['known'] },
    ],
    namespace: api.namespace,
  })
})

describe('a SubjectAccessReview', () => {
  const readers = () => ({ namespace: api.namespace, verb: 'get', resource: 'configmaps' })

  it('returns that a request is allowed, and by which role', async () => {
    const spec = { user: reader, resourceAttributes: readers() }
    const { status, body } = await review('subjectaccessreviews', spec)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec,
      status: {
        allowed: true,
        reason: `RBAC: allowed by RoleBinding "${reader}/${api.namespace}" of Role "${reader}" to User "${reader}"`,
      },
    })
  })

  it.each<[string, () => Json, boolean]>([
    ['a verb they do not have', () => ({ ...readers(), verb: 'delete' }), false],
    ['another namespace', () => ({ ...readers(), namespace: 'default' }), false],
    ['all namespaces', () => ({ ...readers(), namespace: '' }), false],
    ['all verbs', () => ({ ...readers(), verb: '*' }), false],
    ['a subresource', () => ({ ...readers(), subresource: 'status' }), false],
    ['another group', () => ({ ...readers(), group: 'apps' }), false],
    ['a permitted name', () => ({ ...readers(), resource: 'secrets', name: 'known' }), true],
    ['another name', () => ({ ...readers(), resource: 'secrets', name: 'other' }), false],
    ['any name', () => ({ ...readers(), resource: 'secrets' }), false],
    ['one version of a permitted resource', () => ({ ...readers(), version: 'v1' }), true],
  ])('about %s', async (_, resourceAttributes, allowed) => {
    const { body } = await review('subjectaccessreviews', { user: reader, resourceAttributes: resourceAttributes() })
    expect(body.status).toMatchObject({ allowed })
  })

  it('considers groups', async () => {
    const spec = { groups: ['system:masters'], resourceAttributes: { verb: 'delete', resource: 'nodes' } }
    expect((await review('subjectaccessreviews', spec)).body.status).toEqual({ allowed: true })
  })

  it('supports paths too', async () => {
    const spec = (path: string) => ({
      user: reader,
      groups: ['system:authenticated'],
      nonResourceAttributes: { verb: 'get', path },
    })
    expect((await review('subjectaccessreviews', spec('/version'))).body.status).toEqual({
      allowed: true,
      reason: expect.stringMatching(/^RBAC: allowed by ClusterRoleBinding "system:/),
    })
    expect((await review('subjectaccessreviews', spec('/metrics'))).body.status).toEqual({ allowed: false })
  })

  it.each<[string, Json, Json]>([
    [
      'without a user',
      { resourceAttributes: { verb: 'get', resource: 'pods' } },
      {
        field: 'spec.user',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "": at least one of user or group must be specified',
      },
    ],
    [
      'without a resource or path',
      { user: 'x' },
      {
        field: 'spec.resourceAttributes',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      },
    ],
  ])('%s is rejected', async (_, spec, wrong) => {
    // The error contains only the group of the kind.
    expect((await review('subjectaccessreviews', spec)).body).toEqual(
      failure({
        code: 422,
        reason: 'Invalid',
        message: `.authorization.k8s.io "" is invalid: ${wrong.field}: ${wrong.message}`,
        details: { group: 'authorization.k8s.io', causes: [wrong] },
      }),
    )
  })

  it('cannot be read back', async () => {
    expect((await api.get(`${AUTHORIZATION}/subjectaccessreviews`)).body).toEqual(methodNotAllowed)
  })
})

describe('a SelfSubjectAccessReview', () => {
  it('applies to the requesting user', async () => {
    const self = impersonating(api, { user: reader })
    const ask = async (verb: string) =>
      (
        await self.send('POST', `${AUTHORIZATION}/selfsubjectaccessreviews`, {
          spec: { resourceAttributes: { namespace: api.namespace, verb, resource: 'configmaps' } },
        })
      ).body.status.allowed
    expect(await ask('get')).toBe(true)
    expect(await ask('delete')).toBe(false)
  })
})

describe('a LocalSubjectAccessReview', () => {
  const path = () => `${AUTHORIZATION}/namespaces/${api.namespace}/localsubjectaccessreviews`

  it('applies to its namespace', async () => {
    const resourceAttributes = { namespace: api.namespace, verb: 'get', resource: 'configmaps' }
    const { body } = await api.post(path(), { spec: { user: reader, resourceAttributes } })
    expect(body.status.allowed).toBe(true)
  })

  it('is rejected for another namespace', async () => {
    const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'configmaps' }
    const { status, body } = await api.post(path(), { spec: { user: reader, resourceAttributes } })
    expect(status).toBe(422)
    expect(body.message).toContain(
      'spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace',
    )
  })
})

describe('a SelfSubjectRulesReview', () => {
  it('lists the permissions of the requesting user in a namespace', async () => {
    const self = impersonating(api, { user: reader })
    const { body } = await self.send('POST', `${AUTHORIZATION}/selfsubjectrulesreviews`, {
      spec: { namespace: api.namespace },
    })
    expect(body.status.incomplete).toBe(false)
    expect(body.status.resourceRules).toEqual(
      expect.arrayContaining([
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['known'] },
        { apiGroups: ['authorization.k8s.io'], resources: expect.any(Array), verbs: ['create'] },
      ]),
    )
    expect(body.status.nonResourceRules).toEqual(
      expect.arrayContaining([{ nonResourceURLs: expect.arrayContaining(['/version']), verbs: ['get'] }]),
    )
  })

  it('requires a namespace', async () => {
    const { body } = await api.post(`${AUTHORIZATION}/selfsubjectrulesreviews`, { spec: {} })
    expect(body).toEqual(badRequest('no namespace on request'))
  })
})

describe('a TokenReview', () => {
  const ask = async (spec: Json) => (await api.post(`${AUTHENTICATION}/tokenreviews`, { spec })).body

  it('returns the user of a token', async () => {
    const { metadata } = await accounts.given(unique('account'))
    const path = accounts.path(metadata.name, { subresource: 'token' })
    const { token } = (await api.post(path, { spec: { audiences: ['vault', 'here'] } })).body.status
    expect((await ask({ token, audiences: ['vault', 'there'] })).status).toEqual({
      authenticated: true,
      user: {
        username: `system:serviceaccount:${api.namespace}:${metadata.name}`,
        uid: metadata.uid,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${api.namespace}`, 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)] },
      },
      audiences: ['vault'],
    })
    expect((await ask({ token, audiences: ['there'] })).status).toMatchObject({
      user: {},
      error: '[invalid bearer token, token audiences ["vault" "here"] is invalid for the target audiences ["there"]]',
    })
  })

  it('reports an invalid token', async () => {
    expect((await ask({ token: 'abc' })).status).toEqual({ user: {}, error: 'invalid bearer token' })
  })

  it('requires a token', async () => {
    expect(await ask({})).toEqual(badRequest('token is required for TokenReview in authentication'))
  })
})

describe('a review', () => {
  it('cannot be read as a table', async () => {
    const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const spec = { nonResourceAttributes: { path: '/', verb: 'get' } }
    const { status, body } = await api.post(`${AUTHORIZATION}/selfsubjectaccessreviews`, { spec }, table)
    expect(status).toBe(406)
    expect(body).toMatchObject({
      reason: 'NotAcceptable',
      message:
        'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    })
  })
})
