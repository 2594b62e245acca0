import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CONFIG_MAPS, configMap, InProcess, type WatchStream } from './support/in-process.ts'
import { ManualClock } from './support/manual-clock.ts'

let clock: ManualClock
let cluster: InProcess
const streams: WatchStream[] = []

beforeEach(async () => {
  clock = new ManualClock()
  cluster = await InProcess.start({ clock, maxBufferedEvents: 50 })
})

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close()
  await cluster.stop()
})

async function open(query: string, headers: Record<string, string> = {}): Promise<WatchStream> {
  const stream = await cluster.watch(`${CONFIG_MAPS}?watch=true&${query}`, { headers })
  streams.push(stream)
  return stream
}

const create = (name: string, labels = {}) => cluster.send('POST', CONFIG_MAPS, configMap(name, {}, { labels }))
const label = (name: string, labels: object) => cluster.patch(`${CONFIG_MAPS}/${name}`, { metadata: { labels } })
const remove = (name: string) => cluster.send('DELETE', `${CONFIG_MAPS}/${name}`)
const revision = async () => (await cluster.send('GET', CONFIG_MAPS)).body.metadata.resourceVersion

test('without a version starts with the current state, then delivers events', async () => {
  await create('a')
  const stream = await open('')
  await create('b')
  expect(await stream.take(2)).toEqual(['ADDED a', 'ADDED b'])
})

test('a watch from a version delivers exactly the later events', async () => {
  await create('a')
  const from = await revision()
  await create('b')
  await remove('a')
  const stream = await open(`resourceVersion=${from}`)
  await create('c')
  expect(await stream.take(3)).toEqual(['ADDED b', 'DELETED a', 'ADDED c'])
})

test('a watch delivers a deletion with the last state at the revision of the deletion', async () => {
  const created = await create('a')
  const stream = await open(`resourceVersion=${await revision()}`)
  await remove('a')
  const event = await stream.next()
  expect(event?.object.metadata.uid).toBe(created.body.metadata.uid)
  expect(Number(event?.object.metadata.resourceVersion)).toBeGreaterThan(Number(created.body.metadata.resourceVersion))
})

test('with a selector, an object that starts to match is ADDED and one that stops to match is DELETED', async () => {
  await create('a')
  const stream = await open(`resourceVersion=${await revision()}&labelSelector=show%3Dyes`)
  await label('a', { show: 'yes' })
  await label('a', { other: 'x' })
  const hidden = await label('a', { show: 'no' })
  await remove('a')
  await create('b', { show: 'yes' })
  expect(await stream.take(2)).toEqual(['ADDED a', 'MODIFIED a'])
  const gone = await stream.next()
  // The last matching state, at the revision of the change.
  expect(gone).toMatchObject({ type: 'DELETED', object: { metadata: { labels: { show: 'yes' } } } })
  expect(gone?.object.metadata.resourceVersion).toBe(hidden.body.metadata.resourceVersion)
  expect(await stream.take(1)).toEqual(['ADDED b'])
})

test('a watch of one object by name delivers no other', async () => {
  const stream = await open(`resourceVersion=${await revision()}&fieldSelector=metadata.name%3Db`)
  await create('a')
  await create('b')
  expect(await stream.take(1)).toEqual(['ADDED b'])
})

test('a watch ends initial events with an annotated bookmark', async () => {
  await create('b')
  await create('a')
  const stream = await open('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true')
  expect(await stream.take(2)).toEqual(['ADDED a', 'ADDED b'])
  expect(await stream.next()).toMatchObject({
    type: 'BOOKMARK',
    object: {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: await revision(), annotations: { 'k8s.io/initial-events-end': 'true' } },
    },
  })
})

test('a watch sends bookmarks every minute and shortly before the end, and never before an event', async () => {
  const stream = await open(`resourceVersion=${await revision()}&allowWatchBookmarks=true&timeoutSeconds=90`)
  await create('a')
  clock.advance(60_000)
  expect(await stream.take(1)).toEqual(['ADDED a'])
  const bookmark = await stream.next()
  expect(bookmark).toMatchObject({ type: 'BOOKMARK', object: { metadata: { resourceVersion: await revision() } } })
  clock.advance(28_000)
  expect((await stream.next())?.type).toBe('BOOKMARK')
  clock.advance(2_000)
  expect(await stream.next()).toBeUndefined()
})

test('without allowWatchBookmarks sends none', async () => {
  const stream = await open(`resourceVersion=${await revision()}&timeoutSeconds=90`)
  clock.advance(90_000)
  expect(await stream.next()).toBeUndefined()
})

test('a watch from a discarded version gets one ERROR with 410 and ends', async () => {
  const from = await revision()
  await create('a')
  cluster.cluster.compact()
  const stream = await open(`resourceVersion=${from}`)
  expect(stream.status).toBe(200)
  expect(await stream.next()).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
  expect(await stream.next()).toBeUndefined()
})

test('a watch closes for a reader that reads nothing instead of buffering forever', async () => {
  const stream = await open(`resourceVersion=${await revision()}`)
  for (let count = 0; count < 60; count += 1) await create(`n${count}`)
  expect(await stream.next()).toBeUndefined()
})

test('a watch ends when the cluster stops', async () => {
  const stream = await open('')
  await cluster.stop()
  expect(await stream.next()).toBeUndefined()
})

describe('in other representations', () => {
  test('has the columns of a table in the first event only', async () => {
    await create('a')
    const stream = await open('', { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
    await create('b')
    const first = await stream.next()
    const second = await stream.next()
    expect(first?.object.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Data', 'Age'])
    expect(first?.object.rows[0].cells).toEqual(['a', 0, '0s'])
    expect(second?.object.columnDefinitions ?? []).toEqual([])
  })

  test('contains only metadata', async () => {
    const stream = await open('', { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' })
    await cluster.send('POST', CONFIG_MAPS, configMap('a', { k: 'v' }))
    const event = await stream.next()
    expect(event?.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
    expect(event?.object.data).toBeUndefined()
  })
})
