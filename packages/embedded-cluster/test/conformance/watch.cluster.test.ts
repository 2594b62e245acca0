/** Watches: where they start, what they deliver, how they end. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, normalised } from './support/objects.ts'
import { badRequest, failure, invalid } from './support/status.ts'
import { told, WatchStream } from './support/watch-stream.ts'

const api = ConformanceApi.forThisFile()
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'
const INITIAL_EVENTS = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'

/** The ConfigMaps of one case, which have their own label. */
class Family {
  readonly label = unique('family')

  static async of(...names: string[]): Promise<Family> {
    const family = new Family()
    for (const name of names) await family.add(name)
    return family
  }

  watch(query: string): string {
    return `${configMaps(api.namespace)}?watch=true&labelSelector=family%3D${this.label}&${query}`
  }

  path(name: string): string {
    return `${configMaps(api.namespace)}/${this.label}-${name}`
  }

  add(name: string, labels: Json = {}): Promise<Json> {
    const metadata = { labels: { family: this.label, ...labels } }
    return api.create(configMaps(api.namespace), configMap(`${this.label}-${name}`, { metadata }))
  }

  change(name: string, patch: Json): Promise<Json> {
    return api.patch(this.path(name), patch).then(({ body }) => body)
  }

  async version(): Promise<string> {
    return (await api.get(configMaps(api.namespace))).body.metadata.resourceVersion
  }

  /** The name without its common random prefix. */
  told(line: Parameters<typeof told>[0]): string {
    return told(line).replace(`${this.label}-`, '')
  }
}

describe('a watch from a version', () => {
  it('delivers everything since then, in order and unchanged', async () => {
    const family = new Family()
    const since = await family.version()
    const added = await family.add('a')
    const changed = await family.change('a', { data: { k: '1' } })
    await family.add('b')
    await api.delete(family.path('a'))
    await using stream = new WatchStream(api, family.watch(`resourceVersion=${since}`))
    const lines = await stream.take(4)
    expect(lines.map((line) => family.told(line))).toEqual(['ADDED a', 'MODIFIED a', 'ADDED b', 'DELETED a'])
    expect(lines[0]?.object).toEqual(added)
    expect(lines[1]?.object).toEqual(changed)
  })

  it('delivers nothing older', async () => {
    const family = await Family.of('old')
    await using stream = new WatchStream(api, family.watch(`resourceVersion=${await family.version()}`))
    await family.add('new')
    expect(family.told(await stream.next())).toBe('ADDED new')
  })

  it('continues with new events', async () => {
    const family = await Family.of('a')
    await using stream = new WatchStream(api, family.watch(`resourceVersion=${await family.version()}`))
    for (const value of ['1', '2', '3']) {
      const changed = await family.change('a', { data: { k: value } })
      expect(await stream.next()).toEqual({ type: 'MODIFIED', object: changed })
    }
  })

  it('delivers a deleted object with the version of its deletion', async () => {
    const family = await Family.of('a')
    const before = (await api.get(family.path('a'))).body
    await using stream = new WatchStream(api, family.watch(`resourceVersion=${before.metadata.resourceVersion}`))
    await api.delete(family.path('a'))
    const { type, object } = await stream.next()
    expect(type).toBe('DELETED')
    expect(normalised(object)).toEqual(normalised(before))
    expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion))
  })

  it('delivers the removal of the last finalizer as the deletion', async () => {
    const family = new Family()
    const name = `${family.label}-held`
    const metadata = { labels: { family: family.label }, finalizers: ['example.com/hold'] }
    const { resourceVersion } = (await api.create(configMaps(api.namespace), configMap(name, { metadata }))).metadata
    await api.delete(family.path('held'))
    await family.change('held', { metadata: { finalizers: null } })
    await using stream = new WatchStream(api, family.watch(`resourceVersion=${resourceVersion}`))
    const lines = await stream.take(2)
    expect(lines.map((line) => family.told(line))).toEqual(['MODIFIED held', 'DELETED held'])
    expect(lines[0]?.object.metadata).toMatchObject({
      finalizers: ['example.com/hold'],
      deletionTimestamp: expect.any(String),
    })
  })

  it('delivers nothing for writes without changes', async () => {
    const family = await Family.of('a')
    await using stream = new WatchStream(api, family.watch(`resourceVersion=${await family.version()}`))
    const { body } = await api.get(family.path('a'))
    await api.put(family.path('a'), body)
    await family.add('b')
    expect(family.told(await stream.next())).toBe('ADDED b')
  })

  it('delivers writes of all namespaces when it watches all', async () => {
    const label = unique('everywhere')
    const since = await new Family().version()
    const namespaces = [api.namespace, await api.newNamespace()]
    for (const namespace of namespaces) {
      await api.create(configMaps(namespace), configMap(label, { metadata: { labels: { label } } }))
    }
    const path = `/api/v1/configmaps?watch=true&labelSelector=label%3D${label}&resourceVersion=${since}`
    await using stream = new WatchStream(api, path)
    expect((await stream.take(2)).map(({ object }) => object.metadata.namespace)).toEqual(namespaces)
  })

  it('that has been compacted ends with a Status in the stream', async () => {
    const namespace = await api.newNamespace()
    const events = `/api/v1/namespaces/${namespace}/events`
    const involvedObject = { kind: 'Pod', namespace, name: 'subject' }
    const { metadata } = await api.create(events, { metadata: { name: 'a' }, involvedObject })
    for (const name of ['b', 'c']) await api.create(events, { metadata: { name }, involvedObject })
    await api.cluster.compact()
    const lines = await api.watchToEnd(`${events}?watch=true&resourceVersion=${metadata.resourceVersion}`)
    expect(lines).toEqual([
      { type: 'ERROR', object: failure({ code: 410, reason: 'Expired', message: expect.stringContaining('too old') }) },
    ])
  })
})

describe('a watch from the current state', () => {
  it.each([
    ['without a version', ''],
    ['with version 0', 'resourceVersion=0'],
  ])('%s first delivers the existing objects, then events', async (_, query) => {
    const family = await Family.of('b', 'a')
    // Any state is allowed for version 0; a list of the latest one ensures that the cache has it.
    await api.get(`${configMaps(api.namespace)}?resourceVersion=${await family.version()}`)
    await using stream = new WatchStream(api, family.watch(query))
    const initial = await stream.take(2)
    expect(initial.map((line) => family.told(line)).sort()).toEqual(['ADDED a', 'ADDED b'])
    await family.change('a', { data: { k: 'v' } })
    expect(family.told(await stream.next())).toBe('MODIFIED a')
  })

  it.each(['', 'resourceVersion=0&'])('marks the end of the state for clients with bookmarks (%s)', async (version) => {
    const family = await Family.of('a')
    await api.get(`${configMaps(api.namespace)}?resourceVersion=${await family.version()}`)
    await using stream = new WatchStream(api, family.watch(`${version}allowWatchBookmarks=true`))
    const [added, bookmark] = await stream.take(2)
    expect(added?.type).toBe('ADDED')
    expect(bookmark?.object.metadata.annotations).toEqual({ [INITIAL_EVENTS_END]: 'true' })
  })
})

describe('initial events on request', () => {
  it.each([
    ['at the latest version', ''],
    ['at any version', '&resourceVersion=0'],
  ])('%s are in order and end with a bookmark', async (_, version) => {
    const family = await Family.of('b', 'c', 'a')
    await api.get(`${configMaps(api.namespace)}?resourceVersion=${await family.version()}`)
    await using stream = new WatchStream(api, family.watch(`${INITIAL_EVENTS}&allowWatchBookmarks=true${version}`))
    const lines = await stream.take(4)
    expect(lines.slice(0, 3).map((line) => family.told(line))).toEqual(['ADDED a', 'ADDED b', 'ADDED c'])
    const newest = Math.max(...lines.slice(0, 3).map(({ object }) => Number(object.metadata.resourceVersion)))
    expect(lines[3]).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { resourceVersion: expect.any(String), annotations: { [INITIAL_EVENTS_END]: 'true' } },
      },
    })
    expect(Number(lines[3]?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(newest)
    await family.add('d')
    expect(family.told(await stream.next())).toBe('ADDED d')
  })

  it('are at least as new as the requested version', async () => {
    const family = await Family.of('a')
    const { metadata } = await family.change('a', { data: { k: 'v' } })
    const query = `${INITIAL_EVENTS}&allowWatchBookmarks=true&resourceVersion=${metadata.resourceVersion}`
    await using stream = new WatchStream(api, family.watch(query))
    expect((await stream.next()).object.data).toEqual({ k: 'v' })
  })

  it('end without a bookmark for clients without bookmarks', async () => {
    const family = await Family.of('a')
    await using stream = new WatchStream(api, family.watch(INITIAL_EVENTS))
    expect(family.told(await stream.next())).toBe('ADDED a')
    await family.add('b')
    expect(family.told(await stream.next())).toBe('ADDED b')
  })

  it('of nothing consist of just the bookmark', async () => {
    const family = new Family()
    await using stream = new WatchStream(api, family.watch(`${INITIAL_EVENTS}&allowWatchBookmarks=true`))
    expect((await stream.next()).object.metadata.annotations).toEqual({ [INITIAL_EVENTS_END]: 'true' })
  })

  it('can be disabled', async () => {
    const family = await Family.of('a')
    const query = 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan'
    const since = await family.version()
    await family.add('b')
    await using stream = new WatchStream(api, family.watch(`${query}&resourceVersion=${since}`))
    expect(family.told(await stream.next())).toBe('ADDED b')
  })

  const forbidden = (message: string) => ({
    field: 'resourceVersionMatch',
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${message}`,
  })
  const requires = forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')

  it.each<[string, string, Json[]]>([
    ['no match', 'sendInitialEvents=true', [requires]],
    [
      'another match',
      'sendInitialEvents=true&resourceVersionMatch=Exact',
      [
        requires,
        {
          field: 'resourceVersionMatch',
          reason: 'FieldValueNotSupported',
          message: 'Unsupported value: "Exact": supported values: "NotOlderThan"',
        },
      ],
    ],
    [
      'a match alone',
      'resourceVersionMatch=NotOlderThan&resourceVersion=1',
      [forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')],
    ],
  ])('are rejected with %s', async (_, query, wrong) => {
    const { status, body } = await api.get(new Family().watch(query))
    expect(status).toBe(422)
    expect(body).toEqual(invalid('ListOptions.meta.k8s.io', '', ...wrong))
  })
})

describe('selectors of a watch', () => {
  it('add and delete objects as their labels change', async () => {
    const family = new Family()
    const since = await family.version()
    await family.add('a', { color: 'red' })
    await family.change('a', { metadata: { labels: { color: 'blue' } } })
    await family.change('a', { data: { k: 'unseen' } })
    await family.change('a', { metadata: { labels: { color: 'red' } } })
    await family.change('a', { data: { k: 'seen' } })
    const selector = `labelSelector=family%3D${family.label},color%3Dred`
    const path = `${configMaps(api.namespace)}?watch=true&${selector}&resourceVersion=${since}`
    await using stream = new WatchStream(api, path)
    const lines = await stream.take(4)
    expect(lines.map((line) => family.told(line))).toEqual(['ADDED a', 'DELETED a', 'ADDED a', 'MODIFIED a'])
    // An object that stops to match is delivered in its last matching state, with the version of the change.
    expect(lines[1]?.object.metadata.labels.color).toBe('red')
    expect(Number(lines[1]?.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(lines[0]?.object.metadata.resourceVersion),
    )
    expect(lines[2]?.object.data).toEqual({ k: 'unseen' })
  })

  it('by name watch one object', async () => {
    const family = await Family.of('a', 'b')
    const since = await family.version()
    await family.change('b', { data: { k: 'v' } })
    await family.change('a', { data: { k: 'v' } })
    const path = `${configMaps(api.namespace)}?watch=true&fieldSelector=metadata.name%3D${family.label}-a&resourceVersion=${since}`
    await using stream = new WatchStream(api, path)
    expect(family.told(await stream.next())).toBe('MODIFIED a')
  })

  it.each([
    ['labelSelector=%3D', "found '=', expected: !, identifier, or 'end of string'"],
    ['fieldSelector=data.x%3D1', '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ])('are rejected before the stream starts: %s', async (query, message) => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}?watch=true&${query}`)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest(message))
  })
})

describe('a stream', () => {
  it('ignores a limit', async () => {
    const family = await Family.of('a', 'b', 'c')
    await using stream = new WatchStream(api, family.watch('limit=1'))
    expect(await stream.take(3)).toHaveLength(3)
  })

  it('can be requested with the old paths', async () => {
    const family = await Family.of('a')
    const query = `labelSelector=family%3D${family.label}`
    await using collection = new WatchStream(api, `/api/v1/watch/namespaces/${api.namespace}/configmaps?${query}`)
    expect(family.told(await collection.next())).toBe('ADDED a')
    const one = `/api/v1/watch/namespaces/${api.namespace}/configmaps/${family.label}-a`
    await using object = new WatchStream(api, one)
    expect(family.told(await object.next())).toBe('ADDED a')
  })

  it('is not returned by a get of one object, even with watch=true', async () => {
    const family = await Family.of('a')
    const { body } = await api.get(`${family.path('a')}?watch=true`)
    expect(body).toMatchObject({ kind: 'ConfigMap' })
  })

  it('delivers the same to many readers', async () => {
    const family = new Family()
    const path = family.watch(`resourceVersion=${await family.version()}`)
    const streams = Array.from({ length: 20 }, () => new WatchStream(api, path))
    const readings = streams.map((stream) => stream.take(3))
    for (const name of ['a', 'b', 'c']) await family.add(name)
    const [first, ...others] = await Promise.all(readings)
    for (const other of others) expect(other).toEqual(first)
    await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()))
  })

  it.each([
    ['timeoutSeconds=soon', 400, badRequest('strconv.ParseInt: parsing "soon": invalid syntax')],
    [
      'resourceVersion=abc',
      500,
      failure({
        code: 500,
        message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      }),
    ],
  ])('does not start with %s', async (query, code, expected) => {
    const { status, body } = await api.get(new Family().watch(query))
    expect(status).toBe(code)
    expect(body).toEqual(expected)
  })

  it('cannot be YAML', async () => {
    const { status, text } = await api.get(new Family().watch('timeoutSeconds=1'), { accept: 'application/yaml' })
    expect(status).toBe(406)
    expect(text).toContain('only the following media types are accepted: application/json;stream=watch')
  })
})

// These cases wait for timeouts, so they run concurrently.
describe.concurrent('streams with a timeout', () => {
  it('are JSON, and open before their first event', async () => {
    const family = new Family()
    const response = await api.get(family.watch(`timeoutSeconds=1&resourceVersion=${await family.version()}`))
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe('application/json')
    expect(response.text).toBe('')
  })

  it('end after the timeout of the client', async () => {
    const family = await Family.of('a')
    const lines = await api.watchToEnd(family.watch('timeoutSeconds=1'))
    expect(lines.map((line) => family.told(line))).toEqual(['ADDED a'])
  })

  it('end with a bookmark of their progress', async () => {
    const family = await Family.of('a')
    const since = await family.version()
    const reading = api.watchToEnd(family.watch(`timeoutSeconds=5&allowWatchBookmarks=true&resourceVersion=${since}`))
    const other = await new Family().add('unseen')
    const lines = await reading
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      const metadata = { resourceVersion: expect.any(String) }
      expect(line).toEqual({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata } })
    }
    expect(Number(lines.at(-1)?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(other.metadata.resourceVersion),
    )
  })

  it('from the future end with a Status in the stream', async () => {
    const family = new Family()
    const query = `${INITIAL_EVENTS}&allowWatchBookmarks=true&resourceVersion=999999999999`
    const lines = await api.watchToEnd(family.watch(query))
    expect(lines).toEqual([
      {
        type: 'ERROR',
        object: failure({
          code: 504,
          reason: 'Timeout',
          message: expect.stringMatching(/^Timeout: Too large resource version: 999999999999, current: \d+$/),
          details: {
            causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
            retryAfterSeconds: 1,
          },
        }),
      },
    ])
  })
})
