import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { expect, it } from 'vitest'
import { eventHead, storedHead } from './object-head.ts'

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

it('name, namespace, uid and version are read of what the server responds and streams', async () => {
  await using cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false })
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels: { a: 'b' }, name: 'c' }, data: { name: 'x' } }
  const headers = { 'content-type': 'application/json' }
  const path = '/api/v1/namespaces/default/configmaps'
  const created = await cluster.handle({ method: 'POST', path, headers, body: JSON.stringify(body) })
  const chunks: Uint8Array[] = []
  for await (const chunk of created.body) chunks.push(chunk)
  const { metadata } = JSON.parse(Buffer.concat(chunks).toString())
  const { uid, resourceVersion } = metadata
  const expected = { name: 'c', namespace: 'default', uid, resourceVersion }
  expect(storedHead(Buffer.concat(chunks))).toEqual(expected)
  const signal = AbortSignal.timeout(10_000)
  const watch = await cluster.handle({ method: 'GET', path: `${path}?watch=true`, headers: {}, signal })
  for await (const line of watch.body) {
    expect(eventHead(line)).toEqual({ ...expected, type: 'ADDED' })
    break
  }
})

it('what has its fields elsewhere, no name, or escapes is left to a parser', () => {
  const object = { kind: 'A', apiVersion: 'v1', metadata: { name: 'a', resourceVersion: '1' } }
  expect(storedHead(bytes(object))).toEqual({ name: 'a', resourceVersion: '1' })
  expect(storedHead(bytes({ metadata: object.metadata, kind: 'A', apiVersion: 'v1' }))).toBeUndefined()
  expect(storedHead(bytes({ ...object, metadata: { resourceVersion: '1', name: 'a' } }))).toBeUndefined()
  expect(storedHead(bytes({ ...object, metadata: { name: 'a"b', resourceVersion: '1' } }))).toBeUndefined()
  expect(storedHead(bytes({ ...object, metadata: { name: 'a', labels: {}, resourceVersion: '1' } }))).toBeUndefined()
  expect(storedHead(bytes({ kind: 'Status', apiVersion: 'v1', metadata: {}, code: 404 }))).toBeUndefined()
  const bookmark = { type: 'BOOKMARK', object: { ...object, metadata: { resourceVersion: '7' } } }
  expect(eventHead(bytes(bookmark))).toBeUndefined()
  expect(storedHead(bytes('not JSON'))).toBeUndefined()
})
