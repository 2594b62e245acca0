import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CONFIG_MAPS, configMap, InProcess } from './support/in-process.ts'
import { ManualClock } from './support/manual-clock.ts'

let clock: ManualClock
let cluster: InProcess

beforeEach(async () => {
  clock = new ManualClock()
  cluster = await InProcess.start({ clock })
  await cluster.send('POST', '/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default' },
  })
})

afterEach(() => cluster.stop())

const PODS = '/api/v1/namespaces/default/pods'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'

function pod(name: string, spec: object = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'x' }], ...spec },
  }
}

function deployment(name: string) {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x' }] } },
    },
  }
}

const version = async (path: string) => (await cluster.send('GET', path)).body.metadata.resourceVersion

describe('generated names', () => {
  test('keep their prefix and do not collide', async () => {
    const names = new Set<string>()
    for (let count = 0; count < 20; count += 1) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'web-' } }
      names.add((await cluster.send('POST', CONFIG_MAPS, body)).body.metadata.name)
    }
    expect(names.size).toBe(20)
    for (const name of names) expect(name).toMatch(/^web-.{5}$/)
  })

  test('are retried on a collision, and the last error is returned after too many', async () => {
    const stubborn = await InProcess.start({ random: () => 0.5 })
    try {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'web-' } }
      expect((await stubborn.send('POST', CONFIG_MAPS, body)).status).toBe(201)
      expect(await stubborn.send('POST', CONFIG_MAPS, body)).toMatchObject({ status: 409 })
    } finally {
      await stubborn.stop()
    }
  })
})

describe('generation', () => {
  test('counts changes of the spec only', async () => {
    await cluster.send('POST', DEPLOYMENTS, deployment('d'))
    const path = `${DEPLOYMENTS}/d`
    const labelled = await cluster.patch(path, { metadata: { labels: { a: 'b' } } })
    expect(labelled.body.metadata.generation).toBe(1)
    const status = await cluster.patch(`${path}/status`, { status: { replicas: 3 } })
    expect(status.body.metadata.generation).toBe(1)
    const scaled = await cluster.patch(path, { spec: { replicas: 3 } })
    expect(scaled.body.metadata.generation).toBe(2)
    const same = await cluster.patch(path, { spec: { replicas: 3 } })
    expect(same.body.metadata).toEqual(scaled.body.metadata)
  })
})

describe('status', () => {
  test('is only written through its subresource', async () => {
    const created = await cluster.send('POST', DEPLOYMENTS, { ...deployment('d'), status: { replicas: 9 } })
    expect(created.body.status).toEqual({})
    const path = `${DEPLOYMENTS}/d`
    expect((await cluster.patch(path, { status: { replicas: 9 } })).body.status).toEqual({})
    const written = await cluster.patch(`${path}/status`, { status: { replicas: 2 }, spec: { replicas: 7 } })
    expect(written.body).toMatchObject({ status: { replicas: 2 }, spec: { replicas: 1 } })
    const replaced = await cluster.send('PUT', path, { ...written.body, status: {} })
    expect(replaced.body.status).toEqual({ replicas: 2 })
  })
})

describe('a dry run', () => {
  test('has the usual response, but no effect', async () => {
    await cluster.send('POST', CONFIG_MAPS, configMap('a', { k: '1' }))
    const before = await version(CONFIG_MAPS)
    const created = await cluster.send('POST', `${CONFIG_MAPS}?dryRun=All`, configMap('b'))
    expect(created).toMatchObject({ status: 201, body: { metadata: { name: 'b' } } })
    expect(created.body.metadata.uid).toBeDefined()
    expect(created.body.metadata.resourceVersion).toBeUndefined()
    const patched = await cluster.patch(`${CONFIG_MAPS}/a?dryRun=All`, { data: { k: '2' } })
    expect(patched.body.data).toEqual({ k: '2' })
    expect((await cluster.send('DELETE', `${CONFIG_MAPS}/a?dryRun=All`)).status).toBe(200)
    expect(await version(CONFIG_MAPS)).toBe(before)
  })

  test('of a Service allocates no address', async () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }
    const path = '/api/v1/namespaces/default/services'
    const dry = await cluster.send('POST', `${path}?dryRun=All`, service)
    const wanted = { ...service, spec: { ...service.spec, clusterIP: dry.body.spec.clusterIP } }
    expect((await cluster.send('POST', path, wanted)).status).toBe(201)
  })
})

describe('finalizers', () => {
  test('keep an object until the last one is removed', async () => {
    const path = `${CONFIG_MAPS}/a`
    await cluster.send('POST', CONFIG_MAPS, configMap('a', {}, { finalizers: ['example.com/x', 'example.com/y'] }))
    const deleted = await cluster.send('DELETE', path)
    expect(deleted.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: { length: 2 } })
    expect(deleted.body.metadata.deletionTimestamp).toBe('2030-01-01T00:00:00Z')
    await cluster.patch(path, { metadata: { finalizers: ['example.com/y'] } })
    expect((await cluster.send('GET', path)).status).toBe(200)
    await cluster.patch(path, { metadata: { finalizers: null } })
    expect((await cluster.send('GET', path)).status).toBe(404)
  })

  test('represent the propagation policy', async () => {
    await cluster.send('POST', CONFIG_MAPS, configMap('a'))
    const foreground = await cluster.send('DELETE', `${CONFIG_MAPS}/a`, { propagationPolicy: 'Foreground' })
    expect(foreground.body.metadata.finalizers).toEqual(['foregroundDeletion'])
    const orphan = await cluster.send('DELETE', `${CONFIG_MAPS}/a`, { propagationPolicy: 'Orphan' })
    expect(orphan.body.metadata.finalizers).toEqual(['orphan'])
    const background = await cluster.send('DELETE', `${CONFIG_MAPS}/a`, { propagationPolicy: 'Background' })
    expect(background.body).toMatchObject({ kind: 'Status', status: 'Success' })
  })
})

describe('pods', () => {
  test('on a node get their grace period, and a second request can only shorten it', async () => {
    await cluster.send('POST', PODS, pod('p', { nodeName: 'n', terminationGracePeriodSeconds: 40 }))
    const path = `${PODS}/p`
    const first = await cluster.send('DELETE', path)
    expect(first.body.metadata).toMatchObject({
      deletionGracePeriodSeconds: 40,
      deletionTimestamp: '2030-01-01T00:00:40Z',
    })
    expect(
      (await cluster.send('DELETE', path, { gracePeriodSeconds: 60 })).body.metadata.deletionGracePeriodSeconds,
    ).toBe(40)
    expect(
      (await cluster.send('DELETE', path, { gracePeriodSeconds: 5 })).body.metadata.deletionGracePeriodSeconds,
    ).toBe(5)
    expect((await cluster.send('DELETE', path, { gracePeriodSeconds: 0 })).status).toBe(200)
    expect((await cluster.send('GET', path)).status).toBe(404)
  })

  test('without a node are deleted immediately', async () => {
    await cluster.send('POST', PODS, pod('p'))
    await cluster.send('DELETE', `${PODS}/p`)
    expect((await cluster.send('GET', `${PODS}/p`)).status).toBe(404)
  })

  test('are bound once', async () => {
    await cluster.send('POST', PODS, pod('p'))
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } }
    expect((await cluster.send('POST', `${PODS}/p/binding`, binding)).status).toBe(201)
    expect((await cluster.send('POST', `${PODS}/p/binding`, binding)).status).toBe(409)
    expect((await cluster.send('GET', `${PODS}/p`)).body).toMatchObject({
      spec: { nodeName: 'n1' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    })
  })

  test('are not evicted in violation of a disruption budget', async () => {
    await cluster.send('POST', PODS, { ...pod('p'), metadata: { name: 'p', labels: { app: 'x' } } })
    await cluster.patch(`${PODS}/p/status`, { status: { phase: 'Running' } })
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    await cluster.send('POST', budgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b' },
      spec: { selector: { matchLabels: { app: 'x' } }, minAvailable: 1 },
    })
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }
    expect(await cluster.send('POST', `${PODS}/p/eviction`, eviction)).toMatchObject({
      status: 429,
      body: { reason: 'TooManyRequests', details: { causes: [{ reason: 'DisruptionBudget' }] } },
    })
    await cluster.patch(`${budgets}/b/status`, { status: { disruptionsAllowed: 1, observedGeneration: 1 } })
    expect((await cluster.send('POST', `${PODS}/p/eviction`, eviction)).status).toBe(201)
    expect((await cluster.send('GET', `${PODS}/p`)).status).toBe(404)
  })
})

describe('two writers', () => {
  test('never lose patches of each other, and replacing a stale state is rejected', async () => {
    await cluster.send('POST', CONFIG_MAPS, configMap('a'))
    const old = (await cluster.send('GET', `${CONFIG_MAPS}/a`)).body
    const patches = Array.from({ length: 10 }, (_, index) =>
      cluster.patch(`${CONFIG_MAPS}/a`, { data: { [`k${index}`]: 'v' } }),
    )
    for (const { status } of await Promise.all(patches)) expect(status).toBe(200)
    expect(Object.keys((await cluster.send('GET', `${CONFIG_MAPS}/a`)).body.data)).toHaveLength(10)
    expect(await cluster.send('PUT', `${CONFIG_MAPS}/a`, { ...old, data: {} })).toMatchObject({ status: 409 })
  })

  test('that apply at the same time create one object', async () => {
    const apply = (manager: string) =>
      cluster.patch(`${CONFIG_MAPS}/a?fieldManager=${manager}`, configMap('a', { [manager]: 'x' }), 'apply')
    const answers = await Promise.all([apply('one'), apply('two')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 201])
    expect((await cluster.send('GET', `${CONFIG_MAPS}/a`)).body.data).toEqual({ one: 'x', two: 'x' })
  })
})

test('unknown fields cause warnings, or errors on request', async () => {
  const body = { ...configMap('a'), extra: 1 }
  const warned = await cluster.send('POST', CONFIG_MAPS, body)
  expect(warned.status).toBe(201)
  expect(warned.headers.warning).toEqual(['299 - "unknown field \\"extra\\""'])
  expect((await cluster.send('PUT', `${CONFIG_MAPS}/a?fieldValidation=Ignore`, body)).headers.warning).toBeUndefined()
  const refused = await cluster.send('PUT', `${CONFIG_MAPS}/a?fieldValidation=Strict`, body)
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('unknown field "extra"') } })
})

test('a collection is deleted by selector, object by object', async () => {
  for (const name of ['a', 'b']) await cluster.send('POST', CONFIG_MAPS, configMap(name, {}, { labels: { app: 'x' } }))
  await cluster.send('POST', CONFIG_MAPS, configMap('c'))
  const deleted = await cluster.send('DELETE', `${CONFIG_MAPS}?labelSelector=app%3Dx`)
  expect(deleted.body).toMatchObject({ kind: 'ConfigMapList', items: { length: 2 } })
  expect((await cluster.send('GET', CONFIG_MAPS)).body.items).toHaveLength(1)
})

test('an event created in one group can be read in the other', async () => {
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason: 'Started',
    message: 'it runs',
    type: 'Normal',
  }
  await cluster.send('POST', '/api/v1/namespaces/default/events', event)
  const { body } = await cluster.send('GET', '/apis/events.k8s.io/v1/namespaces/default/events/e')
  expect(body).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'it runs', regarding: { name: 'p' } })
})

test('events are deleted an hour after their last change', async () => {
  const event = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason: 'Started',
    message: 'it runs',
    type: 'Normal',
  })
  const path = '/api/v1/namespaces/default/events'
  await cluster.send('POST', path, event('old'))
  clock.advance(40 * 60_000)
  await cluster.send('POST', path, event('young'))
  clock.advance(30 * 60_000)
  const { body } = await cluster.send('GET', path)
  expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['young'])
})

test('a request that is aborted while it waits has no effect', async () => {
  cluster.cluster.faults.inject({ verb: 'create' }, { kind: 'latency', delayMs: 1000 })
  const abort = new AbortController()
  const pending = cluster.send('POST', CONFIG_MAPS, configMap('a'), { signal: abort.signal })
  abort.abort(new Error('gone'))
  await expect(pending).rejects.toThrow('gone')
  clock.advance(1000)
  expect((await cluster.send('GET', `${CONFIG_MAPS}/a`)).status).toBe(404)
})
