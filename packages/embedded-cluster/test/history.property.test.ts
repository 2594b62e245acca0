/** Random histories of writes, compared with a model and with the events of watches. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConfigMapModel, type ModelObject, type Write } from './support/config-map-model.ts'
import { InProcess, type InProcessResponse, type StreamEvent } from './support/in-process.ts'

let cluster: InProcess

beforeAll(async () => {
  cluster = await InProcess.start()
})
afterAll(() => cluster?.stop())

const name = fc.constantFrom('a', 'b')
const key = fc.constantFrom('x', 'y', 'z')
const value = fc.constantFrom('0', '1')
const data = fc.dictionary(key, value, { noNullPrototype: true })
const stated = fc.dictionary(key, value, { noNullPrototype: true, minKeys: 1 })
const label = fc.constantFrom('red', 'blue')
const version = fc.constantFrom('none' as const, 'current' as const, 'stale' as const)
const manager = fc.constantFrom('alice', 'bob')

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ verb: fc.constant('create' as const), name, data, label }),
  fc.record({ verb: fc.constant('update' as const), name, data, label, version }),
  fc.record({ verb: fc.constant('patch' as const), name, key, value: fc.option(value) }),
  {
    arbitrary: fc.record({ verb: fc.constant('apply' as const), name, data: stated, manager, force: fc.boolean() }),
    weight: 3,
  },
  fc.record({ verb: fc.constant('delete' as const), name, version }),
)
const history = fc.array(write, { minLength: 1, maxLength: 25 })

/** One history in its own namespace. */
class Replay {
  static #count = 0
  readonly path: string
  readonly model = new ConfigMapModel()
  /** The versions that the server assigned to changes, in order. */
  readonly versions: number[] = []

  private constructor(namespace: string) {
    this.path = `/api/v1/namespaces/${namespace}/configmaps`
  }

  static async start(): Promise<Replay> {
    Replay.#count += 1
    const namespace = `history-${Replay.#count}`
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
    await cluster.send('POST', '/api/v1/namespaces', body)
    return new Replay(namespace)
  }

  /** Sends a write and checks its response. */
  async step(next: Write): Promise<void> {
    const before = await cluster.send('GET', `${this.path}/${next.name}`)
    const expected = this.model.write(next)
    const response = await this.#send(next, before)
    expect({ next, status: response.status }).toEqual({ next, status: expected.status })
    const after = await cluster.send('GET', `${this.path}/${next.name}`)
    const isChanged = versionOf(before) !== versionOf(after)
    expect({ next, isChanged }).toEqual({ next, isChanged: expected.isChanged })
    if (after.status === 200) expect(shape(after.body)).toEqual(modelShape(this.model.objects.get(next.name)))
    if (isChanged && after.status === 200) this.versions.push(Number(versionOf(after)))
  }

  #send(next: Write, before: InProcessResponse): Promise<InProcessResponse> {
    const object = `${this.path}/${next.name}`
    const named = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: next.name } }
    switch (next.verb) {
      case 'create':
        return cluster.send('POST', this.path, labelled(next.name, next.label, next.data))
      case 'update': {
        const body = labelled(next.name, next.label, next.data, resourceVersion(next.version, before))
        return cluster.send('PUT', object, body)
      }
      case 'patch':
        return cluster.patch(object, { data: { [next.key]: next.value } })
      case 'apply':
        return cluster.patch(
          `${object}?fieldManager=${next.manager}&force=${next.force}`,
          { ...named, data: next.data },
          'apply',
        )
      case 'delete': {
        const expected = resourceVersion(next.version, before)
        return cluster.send(
          'DELETE',
          object,
          expected === undefined ? undefined : { preconditions: { resourceVersion: expected } },
        )
      }
    }
  }

  /** All events since `resourceVersion`, up to an object that is created as the end marker. */
  async events(resourceVersion: string, query = ''): Promise<StreamEvent[]> {
    const watch = await cluster.watch(`${this.path}?watch=1&resourceVersion=${resourceVersion}${query}`)
    const end = `end-${this.versions.length}-${resourceVersion}`
    for (const colour of ['red', 'blue']) {
      await cluster.send('POST', this.path, labelled(`${end}-${colour}${query.length}`, colour, {}))
    }
    const seen: StreamEvent[] = []
    for (;;) {
      const event = await watch.next()
      if (event === undefined) throw new Error('the watch ended unexpectedly')
      if (event.object.metadata.name === `${end}-${query === '' ? 'blue' : 'red'}${query.length}`) break
      seen.push(event)
    }
    watch.close()
    return seen.filter(({ object }) => !object.metadata.name.startsWith('end-'))
  }

  /** The objects of a list in the form of watch events, with apiVersion and kind. */
  async list(query = ''): Promise<unknown[]> {
    const { body } = await cluster.send('GET', `${this.path}?${query}`)
    const items: readonly StreamEvent['object'][] = body.items
    return items
      .filter(({ metadata }) => !metadata.name.startsWith('end-'))
      .map((item) => ({ apiVersion: 'v1', kind: 'ConfigMap', ...item }))
  }
}

function labelled(name: string, colour: string, content: Readonly<Record<string, string>>, resourceVersion?: string) {
  const metadata = { name, labels: { colour }, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: content }
}

function resourceVersion(kind: 'none' | 'current' | 'stale', before: InProcessResponse): string | undefined {
  if (kind === 'none') return undefined
  return kind === 'current' ? versionOf(before) : '1'
}

function versionOf(response: InProcessResponse): string | undefined {
  return response.status === 200 ? response.body.metadata.resourceVersion : undefined
}

interface Entry {
  readonly manager: string
  readonly operation: string
  readonly fieldsV1?: { readonly 'f:data'?: Readonly<Record<string, unknown>> }
}

/** The state of an object in the model. */
function shape(object: InProcessResponse['body']) {
  const entries: readonly Entry[] = object.metadata.managedFields ?? []
  const owners = entries.map(({ manager, operation, fieldsV1 }) => {
    const keys = Object.keys(fieldsV1?.['f:data'] ?? {}).filter((field) => field !== '.')
    return [`${manager} ${operation}`, keys.map((field) => field.slice(2)).sort()] as const
  })
  return {
    data: object.data ?? {},
    label: object.metadata.labels?.colour,
    owners: Object.fromEntries(owners.filter(([, keys]) => keys.length > 0)),
  }
}

function modelShape(object: ModelObject | undefined) {
  if (object === undefined) return undefined
  const owners = [...object.owners].map(([who, keys]) => [who, [...keys].sort()] as const)
  return { data: object.data, label: object.label, owners: Object.fromEntries(owners) }
}

/** The objects that remain after applying events one by one. */
function carriedOut(events: readonly StreamEvent[]): unknown[] {
  const objects = new Map<string, unknown>()
  for (const { type, object } of events) {
    if (type === 'DELETED') objects.delete(object.metadata.name)
    else objects.set(object.metadata.name, object)
  }
  return [...objects].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, object]) => object)
}

async function played(writes: readonly Write[]): Promise<{ readonly replay: Replay; readonly start: string }> {
  const replay = await Replay.start()
  const start = (await cluster.send('GET', replay.path)).body.metadata.resourceVersion
  for (const next of writes) await replay.step(next)
  return { replay, start }
}

test('the response, state and ownership of every write match the model', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (writes) => {
      await played(writes)
    }),
    { numRuns: 150 },
  )
})

test('replaying a watch produces the state of a list, and its versions only increase', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (writes) => {
      const { replay, start } = await played(writes)
      const events = await replay.events(start)
      expect(carriedOut(events)).toEqual(await replay.list())
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
      expect(versions).toEqual([...new Set(versions)].sort((left, right) => left - right))
      const written = events.filter(({ type }) => type !== 'DELETED')
      expect(written.map(({ object }) => Number(object.metadata.resourceVersion))).toEqual(replay.versions)
    }),
    { numRuns: 75 },
  )
})

test('replaying a watch with a selector produces the state of a list with it', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (writes) => {
      const { replay, start } = await played(writes)
      const events = await replay.events(start, '&labelSelector=colour%3Dred')
      expect(carriedOut(events)).toEqual(await replay.list('labelSelector=colour%3Dred'))
      const known = new Set<string>()
      for (const { type, object } of events) {
        expect([type, known.has(object.metadata.name)]).toEqual([type, type !== 'ADDED'])
        if (type === 'DELETED') known.delete(object.metadata.name)
        else known.add(object.metadata.name)
      }
    }),
    { numRuns: 75 },
  )
})

test('an apply is idempotent, and a forced one owns its changes exclusively', async () => {
  await fc.assert(
    fc.asyncProperty(history, name, stated, async (writes, target, content) => {
      const { replay } = await played(writes)
      const path = `${replay.path}/${target}?fieldManager=carol&force=true`
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: target }, data: content }
      const before = (await cluster.send('GET', `${replay.path}/${target}`)).body?.data ?? {}
      const first = await cluster.patch(path, body, 'apply')
      const second = await cluster.patch(path, body, 'apply')
      expect(second.body).toEqual(first.body)
      const { owners } = shape(first.body)
      const changed = Object.keys(content).filter((field) => before[field] !== content[field])
      const others = Object.entries(owners).filter(([who]) => who !== 'carol Apply')
      expect(others.flatMap(([, keys]) => keys).filter((field) => changed.includes(field))).toEqual([])
      expect(owners['carol Apply']).toEqual(Object.keys(content).sort())
    }),
    { numRuns: 75 },
  )
})
