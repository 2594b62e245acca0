/** Requests that are invalid before an object is read, and the format of responses. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { configMap, configMaps } from './support/objects.ts'
import { badRequest, failure, methodNotAllowed, resourceNotFound } from './support/status.ts'

const api = ConformanceApi.forThisFile()

describe('an unknown path', () => {
  it.each(['/nope', '/apis/nope.example.com', '/apis/nope.example.com/v1', '/healthz/nope', '/openapi/v4'])(
    'such as %s responds with plain text',
    async (path) => {
      const { status, headers, text } = await api.get(path)
      expect(status).toBe(404)
      expect(headers['content-type']).toBe('text/plain; charset=utf-8')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(text).toBe('404 page not found\n')
    },
  )

  it.each([
    '/api/v2',
    '/apis/apps/v2',
    '/apis/apps/v2/deployments',
    '/api/v1/nope',
    '/api/v1/namespaces/default/nope',
    '/api/v1/namespaces/default/pods/x/nope',
    '/api/v1/namespaces/default/nodes',
    '/api/v1/configmaps/x',
    '/apis/apps/v1/deployments/x',
    '/api/v1/nodes/x/y/z',
  ])('such as %s in a known group responds with a Status', async (path) => {
    const { status, headers, body } = await api.get(path)
    expect(status).toBe(404)
    expect(headers['content-type']).toBe('application/json')
    expect(body).toEqual(resourceNotFound)
  })
})

describe('an unsupported method of a path', () => {
  it.each<['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string]>([
    ['POST', '/api/v1/namespaces/default/configmaps/x'],
    ['PUT', '/api/v1/namespaces/default/configmaps'],
    ['PATCH', '/api/v1/namespaces/default/configmaps'],
    ['POST', '/api/v1/configmaps'],
    ['DELETE', '/api/v1/configmaps'],
    ['DELETE', '/api/v1/namespaces'],
    ['GET', '/api/v1/namespaces/default/pods/x/binding'],
    ['GET', '/api/v1/namespaces/default/pods/x/eviction'],
    ['POST', '/api/v1/namespaces/default/pods/x/status'],
    ['DELETE', '/api/v1/namespaces/default/pods/x/status'],
    ['POST', '/api/v1/namespaces/default/pods/x/log'],
    ['GET', '/api/v1/namespaces/default/serviceaccounts/x/token'],
    ['GET', '/api/v1/namespaces/default/finalize'],
    ['DELETE', '/apis/apps/v1/namespaces/default/deployments/x/scale'],
    ['GET', '/apis/authentication.k8s.io/v1/tokenreviews'],
    ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
    ['DELETE', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
    ['POST', '/api'],
    ['POST', '/api/v1'],
    ['DELETE', '/apis/apps/v1'],
    ['PUT', '/version'],
  ])('is rejected: %s %s', async (method, path) => {
    const { status, body } = await api.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {})
    expect(status).toBe(405)
    expect(body).toEqual(methodNotAllowed)
  })
})

describe('a body', () => {
  const TYPES = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
  const post = (body: string, contentType = 'application/json') =>
    api.post(`${configMaps(api.namespace)}?dryRun=All`, body, { 'content-type': contentType })

  it.each<[string, string, string]>([
    ['that is empty', '', "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"],
    [
      'that is truncated',
      '{"metadata":',
      'couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"metadata":)',
    ],
    [
      'that is not JSON',
      'hello',
      "couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value (68656c6c6f)",
    ],
    [
      'that is a list',
      '[]',
      'couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
    ],
  ])('%s is rejected', async (_, body, why) => {
    const response = await post(body)
    expect(response.status).toBe(400)
    expect(response.body).toEqual(badRequest(`the object provided is unrecognized (must be of type ConfigMap): ${why}`))
  })

  it.each(['text/plain', 'application/xml', 'application/merge-patch+json', 'application/x-www-form-urlencoded'])(
    'as %s is not supported',
    async (contentType) => {
      const response = await post('{}', contentType)
      expect(response.status).toBe(415)
      expect(response.body).toEqual(
        failure({
          code: 415,
          reason: 'UnsupportedMediaType',
          message: `the body of the request was in an unknown format - accepted media types include: ${TYPES}`,
        }),
      )
    },
  )

  it.each(['application/json', 'text/plain'])('as %s is not a patch', async (contentType) => {
    const { status, body } = await api.patch(`${configMaps(api.namespace)}/kube-root-ca.crt?dryRun=All`, '{}', {
      'content-type': contentType,
    })
    expect(status).toBe(415)
    expect(body).toMatchObject({ reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type' })
  })

  it('of more than three megabytes is rejected', async () => {
    const { status, body } = await api.post(
      `${configMaps(api.namespace)}?dryRun=All`,
      configMap('large', { data: { k: 'x'.repeat(3 * 1024 * 1024) } }),
    )
    expect(status).toBe(413)
    expect(body).toEqual(
      failure({
        code: 413,
        reason: 'RequestEntityTooLarge',
        message: 'Request entity too large: limit is 3145728',
      }),
    )
  })

  it('within the limit may still be too large for its kind', async () => {
    const { status, body } = await api.post(
      `${configMaps(api.namespace)}?dryRun=All`,
      configMap('large', { data: { k: 'x'.repeat(1024 * 1024 + 1) } }),
    )
    expect(status).toBe(422)
    expect(body.details.causes).toEqual([
      { field: '[]', reason: 'FieldValueTooLong', message: 'Too long: may not be more than 1048576 bytes' },
    ])
  })
})

describe('a response', () => {
  it.each<[string, Json]>([
    ['to pretty=true', { query: '?pretty=true', headers: {} }],
    ['to curl', { query: '', headers: { 'user-agent': 'curl/8.0' } }],
    ['to a browser', { query: '', headers: { 'user-agent': 'Mozilla/5.0 (X11)' } }],
  ])('%s is indented', async (_, { query, headers }) => {
    const { text, body } = await api.get(`${configMaps(api.namespace)}/kube-root-ca.crt${query}`, headers)
    expect(text.trimEnd()).toBe(JSON.stringify(body, undefined, 2))
  })

  it('to other clients is one line', async () => {
    for (const path of [`${configMaps(api.namespace)}/kube-root-ca.crt`, `${configMaps(api.namespace)}/nobody`]) {
      const { text } = await api.get(path)
      expect(text.indexOf('\n')).toBe(text.length - 1)
    }
  })

  it('must not be cached, and has an audit id', async () => {
    const { headers } = await api.get(`${configMaps(api.namespace)}/kube-root-ca.crt`)
    expect(headers['cache-control']).toBe('no-cache, private')
    expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})
