/** Protobuf bodies, which typed Go clients send: kubectl create, Helm's records. Passes on both clusters. */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { body, bytesField, messageField, stringField, varintField } from '../src/protobuf/testing/wire-writer.ts'

const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
let cluster: ClusterUnderTest
let namespace: string

beforeAll(async () => {
  cluster = await openCluster()
  namespace = await cluster.createNamespace()
})
afterAll(() => cluster.close())

const path = (plural: string, rest = '') => `/api/v1/namespaces/${namespace}/${plural}${rest}`
const send = (method: 'POST' | 'PUT' | 'DELETE', to: string, bytes: Uint8Array) =>
  cluster.raw.send({ method, path: to, headers, body: bytes })
const named = (name: string) => messageField(1, stringField(1, name))

describe('a body in protobuf', () => {
  it('creates an object, with the usual defaults', async () => {
    const secret = body(
      'v1',
      'Secret',
      named('record'),
      messageField(2, stringField(1, 'a'), bytesField(2, Buffer.from('b'))),
    )
    const response = await send('POST', path('secrets'), secret)
    expect(response.status).toBe(201)
    expect(response.json()).toMatchObject({ kind: 'Secret', data: { a: 'Yg==' }, type: 'Opaque' })
  })

  it('replaces an object', async () => {
    await send('POST', path('configmaps'), body('v1', 'ConfigMap', named('replaced')))
    const data = messageField(2, stringField(1, 'k'), stringField(2, 'v'))
    const response = await send(
      'PUT',
      path('configmaps', '/replaced'),
      body('v1', 'ConfigMap', named('replaced'), data),
    )
    expect(response.status).toBe(200)
    expect(response.json()).toMatchObject({ data: { k: 'v' } })
  })

  it('contains options of a deletion', async () => {
    await send('POST', path('configmaps'), body('v1', 'ConfigMap', named('deleted')))
    const wrong = body('v1', 'DeleteOptions', messageField(2, stringField(1, 'no-such-uid')))
    expect((await send('DELETE', path('configmaps', '/deleted'), wrong)).status).toBe(409)
    const options = body('v1', 'DeleteOptions', varintField(1, 0), stringField(4, 'Background'))
    expect((await send('DELETE', path('configmaps', '/deleted'), options)).status).toBe(200)
  })

  it('requests a token', async () => {
    await send('POST', path('serviceaccounts'), body('v1', 'ServiceAccount', named('robot')))
    const request = body('authentication.k8s.io/v1', 'TokenRequest', messageField(2, varintField(4, 600)))
    const response = await send('POST', path('serviceaccounts', '/robot/token'), request)
    expect(response.status).toBe(201)
    expect(response.json()).toMatchObject({ status: { token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) } })
  })

  it('scales', async () => {
    const selector = messageField(2, messageField(1, stringField(1, 'a'), stringField(2, 'b')))
    const labels = messageField(1, messageField(11, stringField(1, 'a'), stringField(2, 'b')))
    const container = messageField(2, stringField(1, 'main'), stringField(2, 'nginx'))
    const template = messageField(3, labels, messageField(2, container))
    const spec = messageField(2, varintField(1, 0), selector, template)
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
    expect((await send('POST', deployments, body('apps/v1', 'Deployment', named('scaled'), spec))).status).toBe(201)
    const scale = body('autoscaling/v1', 'Scale', named('scaled'), messageField(2, varintField(1, 1)))
    const response = await send('PUT', `${deployments}/scaled/scale`, scale)
    expect(response.status).toBe(200)
    expect(response.json()).toMatchObject({ kind: 'Scale', spec: { replicas: 1 } })
  })

  it.each([
    ['is not protobuf', Buffer.from('{}'), 'expected prefix [107 56 115 0]'],
    ['is truncated', body('v1', 'ConfigMap', Uint8Array.of(0x0a, 0x7f)), 'unexpected EOF'],
    ['has an endless number', body('v1', 'ConfigMap', new Uint8Array(11).fill(0xff)), 'proto: integer overflow'],
    ['has an unknown kind', body('v1', 'Foo'), 'no kind "Foo" is registered for version "v1"'],
  ])('is rejected with 400 when it %s', async (_, bytes, message) => {
    const response = await send('POST', path('configmaps'), bytes)
    expect(response.status).toBe(400)
    expect(response.json()).toMatchObject({ reason: 'BadRequest', message: expect.stringContaining(message) })
  })
})
