import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EmbeddedCluster, type JsonObject, startEmbeddedCluster } from '../src/index.ts'

let cluster: EmbeddedCluster

beforeEach(async () => {
  cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false })
})

afterEach(() => cluster.stop())

interface RawResponse {
  readonly status: number
  readonly body: JsonObject
}

async function send(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: JsonObject,
  contentType = 'application/json',
): Promise<RawResponse> {
  const response = await cluster.handle({
    method,
    path,
    headers: { 'content-type': contentType },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  let text = ''
  for await (const chunk of response.body) text += Buffer.from(chunk).toString()
  return { status: response.status, body: JSON.parse(text) }
}

function configMap(name: string, data: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }
}

const configMaps = '/api/v1/namespaces/default/configmaps'

test('a client in the process creates, reads, replaces, patches, lists and deletes an object', async () => {
  const created = await send('POST', configMaps, configMap('a', { k: '1' }))
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default' },
    data: { k: '1' },
  })
  expect(await send('POST', configMaps, configMap('a'))).toMatchObject({
    status: 409,
    body: { reason: 'AlreadyExists' },
  })
  const read = await send('GET', `${configMaps}/a`)
  expect(read.body).toEqual(created.body)
  const replaced = await send('PUT', `${configMaps}/a`, { ...read.body, data: { k: '2' } })
  expect(replaced.body).toMatchObject({ data: { k: '2' } })
  expect(await send('PUT', `${configMaps}/a`, { ...read.body, data: { k: '3' } })).toMatchObject({
    status: 409,
    body: { reason: 'Conflict' },
  })
  const patched = await send('PATCH', `${configMaps}/a`, { data: { x: 'y' } }, 'application/merge-patch+json')
  expect(patched.body).toMatchObject({ data: { k: '2', x: 'y' } })
  const list = await send('GET', configMaps)
  expect(list.body).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] })
  expect((await send('DELETE', `${configMaps}/a`)).body).toMatchObject({ kind: 'Status', status: 'Success' })
  expect(await send('GET', `${configMaps}/a`)).toMatchObject({ status: 404, body: { reason: 'NotFound' } })
})

test('a write without changes does not create a revision', async () => {
  const created = await send('POST', configMaps, configMap('a', { k: '1' }))
  const same = await send('PUT', `${configMaps}/a`, created.body)
  expect(same.body).toEqual(created.body)
})

test('a watch from the listed revision delivers later events, in order', async () => {
  await send('POST', configMaps, configMap('a'))
  const list = await send('GET', configMaps)
  const revision = (list.body.metadata as JsonObject).resourceVersion
  await send('PATCH', `${configMaps}/a`, { data: { x: 'y' } }, 'application/merge-patch+json')
  const stop = new AbortController()
  const response = await cluster.handle({
    method: 'GET',
    path: `${configMaps}?watch=1&resourceVersion=${revision}`,
    headers: {},
    signal: stop.signal,
  })
  await send('DELETE', `${configMaps}/a`)
  const types: string[] = []
  let text = ''
  for await (const chunk of response.body) {
    text += Buffer.from(chunk).toString()
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) types.push(JSON.parse(line).type)
    if (types.length >= 2) stop.abort()
  }
  expect(types).toEqual(['MODIFIED', 'DELETED'])
})

test('a request may impersonate several groups', async () => {
  const response = await cluster.handle({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    headers: { 'content-type': 'application/json', 'impersonate-user': 'alice' },
    repeatedHeaders: { 'impersonate-group': ['dev', 'ops'] },
    body: '{}',
  })
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body) chunks.push(chunk)
  expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
    status: { userInfo: { username: 'alice', groups: ['dev', 'ops', 'system:authenticated'] } },
  })
})
