import { type ConfigMap, ConfigMaps, isNotFound, type KubeClient, Secrets } from '@reeve/kube'
import { Controller, type ControllerOptions, generationChanged, type Reconcile } from '@reeve/runtime/controller'
import { controllerReference } from '@reeve/runtime/owner-references'
import { afterEach, expect, test } from 'vitest'
import { configMap, type SimulatedWorld, simulatedWorld } from './support/simulated-world.ts'

/** The smallest operator: every labelled ConfigMap gets a Secret of the same name with the same content. */
const copy: Reconcile<ConfigMap> = async ({ object, cache, client, signal, key }) => {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
  const wanted = object.data?.value ?? ''
  const secret = cache.get(Secrets, key)
  const stringData = { value: wanted }
  if (secret === undefined) {
    const metadata = { ...key, labels: { test: '' }, ownerReferences: [controllerReference(object)] }
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, stringData }, { signal })
  } else if (secret.data?.value !== Buffer.from(wanted).toString('base64')) {
    const { uid, resourceVersion } = secret.metadata
    await client.patch(
      Secrets,
      key,
      { type: 'merge', patch: { metadata: { uid, resourceVersion }, stringData } },
      { signal },
    )
  }
}

const key = (name: string) => ({ namespace: 'default', name })
const LABELS = { labels: { test: '' } }

let world: SimulatedWorld
let copier: Controller<ConfigMap>
let stopController: () => Promise<void>

afterEach(async () => {
  await world.during(stopController())
  await world.stop()
})

async function open(options: Partial<ControllerOptions<ConfigMap>> = {}): Promise<void> {
  world = await simulatedWorld({ cluster: { controllers: true, nodes: 0 } })
  const { cache, client, clock } = world
  copier = new Controller<ConfigMap>(
    {
      name: 'copier',
      for: { resource: ConfigMaps, labelSelector: 'test', predicate: generationChanged },
      owns: [{ resource: Secrets, labelSelector: 'test' }],
      reconcile: copy,
      concurrency: 4,
      ...options,
    },
    { cache, client, clock },
  )
  await world.start()
  const stopping = new AbortController()
  const running = copier.run(stopping.signal)
  stopController = () => {
    stopping.abort()
    return running
  }
  await clock.settle()
}

const createSource = (name: string, value: string) =>
  world.during(world.client.create(ConfigMaps, configMap(name, value, LABELS)))

async function secretValue(client: KubeClient, name: string): Promise<string | undefined> {
  try {
    const secret = await world.during(client.get(Secrets, key(name)))
    return Buffer.from(secret.data?.value ?? '', 'base64').toString()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

test('a controller creates what is missing, follows changes, heals edits and deletions, and leaves nothing behind', async () => {
  await open()
  const { client, clock } = world
  await createSource('a', '1')
  await clock.advance(1_000)
  expect(await secretValue(client, 'a')).toBe('1')

  await world.during(client.patch(ConfigMaps, key('a'), { type: 'merge', patch: { data: { value: '2' } } }))
  await clock.advance(1_000)
  expect(await secretValue(client, 'a')).toBe('2')

  await world.during(client.patch(Secrets, key('a'), { type: 'merge', patch: { stringData: { value: 'edited' } } }))
  await clock.advance(1_000)
  expect(await secretValue(client, 'a')).toBe('2')

  await world.during(client.delete(Secrets, key('a')))
  await clock.advance(1_000)
  expect(await secretValue(client, 'a')).toBe('2')
  expect(copier.records.at(-1)?.reasons).toMatchObject([{ event: 'added', kind: 'Secret', name: 'a' }])

  await world.during(client.delete(ConfigMaps, key('a')))
  await clock.advance(60_000)
  expect(await secretValue(client, 'a')).toBeUndefined()
})

test('a watch that lags behind causes no second creation and no ping-pong', async () => {
  await open()
  const { cluster, clock } = world
  cluster.faults.freeze('secrets')
  await createSource('a', '1')
  await clock.advance(1_000)
  for (let round = 0; round < 5; round++) {
    copier.enqueue(key('a'))
    await clock.advance(2_000)
  }
  expect(cluster.requests.count({ verb: 'create', resource: 'secrets' })).toBe(1)
  cluster.faults.thaw('secrets')
  await clock.advance(10_000)
  expect(cluster.requests.count({ verb: 'create', resource: 'secrets' })).toBe(1)
  expect(cluster.requests.count({ verb: 'patch', resource: 'secrets' })).toBe(0)
})

test.each([
  { kind: 'status', code: 500 },
  { kind: 'status', code: 409, reason: 'Conflict' },
  { kind: 'status', code: 429, retryAfterSeconds: 3 },
  { kind: 'reset', when: 'before' },
  { kind: 'reset', when: 'after' },
] as const)('a controller converges without duplicates although a creation fails with %j', async (fault) => {
  await open()
  const { cluster, clock, client } = world
  cluster.faults.inject({ verb: 'create', resource: 'secrets' }, fault)
  await createSource('a', '1')
  await clock.advance(60_000)
  expect(await secretValue(client, 'a')).toBe('1')
  expect(copier.records.at(-1)?.outcome).toBe('success')
})

test('thirty objects converge; ten hours of resyncs after that cost no write and no read', async () => {
  await open({ resyncMs: 30_000 })
  const { cluster, clock, cache } = world
  for (let index = 0; index < 30; index++) await createSource(`c-${index}`, `${index}`)
  await clock.advance(10_000)
  expect(cache.list(Secrets)).toHaveLength(30)
  expect(cluster.requests.count({ verb: 'create', resource: 'secrets' })).toBe(30)
  cluster.requests.reset()
  const before = copier.records.at(-1)?.startedMs ?? 0
  await clock.advance(10 * 3_600_000)
  expect(cluster.requests.snapshot()).toEqual({
    'watch configmaps': expect.any(Number),
    'watch secrets': expect.any(Number),
  })
  expect(copier.records.at(-1)?.startedMs).toBeGreaterThan(before + 9 * 3_600_000)
}, 60_000)

test('an informer catches up after the server was unavailable, deletions included', async () => {
  await open()
  const { cluster, clock, client } = world
  await createSource('a', '1')
  await createSource('b', '1')
  await clock.advance(1_000)
  cluster.faults.inject({ verb: ['watch', 'list'] }, { kind: 'status', code: 503 }, { times: 60 })
  cluster.faults.dropWatches(undefined, 'reset')
  await world.during(client.delete(Secrets, key('a')))
  await world.during(client.patch(ConfigMaps, key('b'), { type: 'merge', patch: { data: { value: '2' } } }))
  cluster.compact()
  await clock.advance(45_000)
  expect(await secretValue(client, 'a')).toBeUndefined()
  expect(world.cache.health().isHealthy).toBe(false)
  await clock.advance(900_000)
  expect(await secretValue(client, 'a')).toBe('1')
  expect(await secretValue(client, 'b')).toBe('2')
  expect(world.cache.health().isHealthy).toBe(true)
})
