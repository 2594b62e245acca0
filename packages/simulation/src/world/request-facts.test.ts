import { expect, it } from 'vitest'
import { describeRequest, requestFacts } from './request-facts.ts'

const facts = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) =>
  requestFacts({ method, path, headers: {}, ...(body && { body: JSON.stringify(body) }) })

it.each([
  ['GET', '/api/v1/pods?watch=true&limit=1', 'watch pods'],
  ['GET', '/apis/apps/v1/namespaces/a/deployments', 'list deployments.apps a'],
  ['GET', '/api/v1/secrets?watch=true&fieldSelector=metadata.name%3Db', 'watch secrets metadata.name=b'],
  ['GET', '/api/v1/pods?labelSelector=app%3Dc&limit=1', 'list pods app=c'],
  ['GET', '/api/v1/namespaces/a', 'get namespaces a'],
  ['PUT', '/apis/example.com/v1/namespaces/a/boxes/b/status', 'update boxes.example.com/status a/b'],
  ['PATCH', '/api/v1/nodes/n', 'patch nodes n'],
  ['DELETE', '/api/v1/namespaces/a/services', 'deletecollection services a'],
  ['DELETE', '/api/v1/namespaces/a/services/s', 'delete services a/s'],
  ['GET', '/version', 'get /version'],
  ['GET', '/apis/apps/v1?timeout=5s', 'get /apis/apps/v1'],
] as const)('%s %s is "%s"', (method, path, described) => {
  expect(describeRequest(facts(method, path))).toBe(described)
})

it('the name of a created object is found in its body', () => {
  expect(facts('POST', '/api/v1/namespaces/a/services', { metadata: { name: 's' } }).name).toBe('s')
})
