import { expect, test } from 'vitest'
import { parseRequestInfo } from './request-info.ts'

function parse(method: string, path: string) {
  const [pathname = '', query = ''] = path.split('?')
  return parseRequestInfo(method, pathname, new URLSearchParams(query))
}

test.each([
  ['GET', '/api/v1/pods', { verb: 'list', group: '', version: 'v1', resource: 'pods' }],
  ['GET', '/api/v1/pods?watch=1', { verb: 'watch' }],
  ['GET', '/api/v1/pods?watch=false', { verb: 'list' }],
  ['GET', '/api/v1/watch/pods', { verb: 'watch', resource: 'pods' }],
  ['GET', '/api/v1/watch/namespaces/x/pods/y', { verb: 'watch', namespace: 'x', name: 'y' }],
  ['GET', '/api/v1/namespaces/x', { verb: 'get', resource: 'namespaces', name: 'x', namespace: undefined }],
  ['PUT', '/api/v1/namespaces/x/finalize', { verb: 'update', resource: 'namespaces', subresource: 'finalize' }],
  ['GET', '/api/v1/namespaces/x/status', { verb: 'get', resource: 'namespaces', subresource: 'status' }],
  ['POST', '/apis/apps/v1/namespaces/x/deployments', { verb: 'create', group: 'apps', namespace: 'x' }],
  ['DELETE', '/apis/apps/v1/namespaces/x/deployments', { verb: 'deletecollection' }],
  ['PATCH', '/apis/apps/v1/namespaces/x/deployments/d/scale', { verb: 'patch', name: 'd', subresource: 'scale' }],
  ['GET', '/api/v1/namespaces/x/pods/p/proxy/a/b', { subresource: 'proxy', rest: 'a/b' }],
  ['GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode', { name: 'system:node' }],
])('%s %s', (method, path, expected) => {
  expect(parse(method, path)).toMatchObject(expected)
})

test.each(['/version', '/api', '/api/v1', '/apis/apps', '/apis/apps/v1', '/', '/api/v1/pods/%zz', '/metrics/x/y'])(
  '%s is not a resource path',
  (path) => {
    expect(parse('GET', path)).toBeUndefined()
  },
)
