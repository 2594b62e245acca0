/** Reading single objects and collections, and the state that is read. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments } from './support/objects.ts'
import { badRequest, failure, invalid, notFound } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const named = (body: Json) => body.items.map((item: Json) => item.metadata.name)
const FAR_FUTURE = '999999999999'

/** A label that only the objects of one case have, and the query that selects them. */
async function family(...names: string[]): Promise<{ label: string; query: string; paths: string[] }> {
  const label = unique('family')
  for (const name of names) {
    await api.create(configMaps(api.namespace), configMap(`${label}-${name}`, { metadata: { labels: { label } } }))
  }
  const paths = names.map((name) => `${configMaps(api.namespace)}/${label}-${name}`)
  return { label, query: `${configMaps(api.namespace)}?labelSelector=label%3D${label}`, paths }
}

describe('a list', () => {
  it('has the kind of its items, which do not contain it', async () => {
    const { query, label } = await family('a')
    const { status, body } = await api.get(query)
    expect(status).toBe(200)
    expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' })
    expect(named(body)).toEqual([`${label}-a`])
    expect(body.items[0]).not.toHaveProperty('kind')
    expect(body.items[0]).not.toHaveProperty('apiVersion')
  })

  it('is ordered by name, byte by byte', async () => {
    const { query, label } = await family('b', 'a.z', 'a', 'a-z', 'a0', '0')
    expect(named((await api.get(query)).body)).toEqual(
      ['0', 'a', 'a-z', 'a.z', 'a0', 'b'].map((name) => `${label}-${name}`),
    )
  })

  it('of all namespaces is ordered by namespace first', async () => {
    const label = unique('wide')
    const namespaces = [await api.newNamespace(), await api.newNamespace()].sort()
    for (const namespace of namespaces) {
      for (const name of ['b', 'a'])
        await api.create(configMaps(namespace), configMap(name, { metadata: { labels: { label } } }))
    }
    const { body } = await api.get(`/api/v1/configmaps?labelSelector=label%3D${label}`)
    const places = body.items.map(({ metadata }: Json) => `${metadata.namespace}/${metadata.name}`)
    expect(places).toEqual(namespaces.flatMap((namespace) => [`${namespace}/a`, `${namespace}/b`]))
  })

  it('is empty where there is nothing', async () => {
    const { status, body } = await api.get(configMaps('no-such-namespace'))
    expect(status).toBe(200)
    expect(body.items).toEqual([])
  })

  it('has the version of the whole cluster, which is never older than its items', async () => {
    const { query } = await family('a', 'b')
    const { body } = await api.get(query)
    const newest = Math.max(...body.items.map((item: Json) => Number(item.metadata.resourceVersion)))
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(newest)
    await api.create(deployments(api.namespace), deployment(unique('other')))
    expect(Number((await api.get(query)).body.metadata.resourceVersion)).toBeGreaterThan(
      Number(body.metadata.resourceVersion),
    )
  })

  it('contains a write immediately', async () => {
    const { query, paths } = await family('a', 'b')
    await api.delete(String(paths[0]))
    expect(named((await api.get(query)).body)).toHaveLength(1)
  })
})

describe('resourceVersion of a list', () => {
  it.each([
    ['0: any state', '&resourceVersion=0'],
    ['0, not older', '&resourceVersion=0&resourceVersionMatch=NotOlderThan'],
  ])('%s', async (_, parameters) => {
    const { query, label } = await family('a')
    // Any state is allowed, so the first response may be from before the object existed.
    const { status, body } = await api.get(`${query}${parameters}`)
    expect(status).toBe(200)
    expect(named(body).filter((name: string) => name !== `${label}-a`)).toEqual([])
  })

  it.each([
    ['alone means not older', ''],
    ['with NotOlderThan', '&resourceVersionMatch=NotOlderThan'],
  ])('%s', async (_, match) => {
    const { query, paths, label } = await family('a', 'b')
    const { body } = await api.delete(String(paths[0])).then(() => api.get(query))
    const again = await api.get(`${query}&resourceVersion=${body.metadata.resourceVersion}${match}`)
    expect(again.status).toBe(200)
    expect(named(again.body)).toEqual([`${label}-b`])
    expect(Number(again.body.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(body.metadata.resourceVersion))
  })

  it('with Exact returns the old state', async () => {
    const { query, paths } = await family('a', 'b')
    const before = (await api.get(query)).body
    await api.delete(String(paths[0]))
    await api.patch(String(paths[1]), { data: { k: 'new' } })
    const { body } = await api.get(
      `${query}&resourceVersion=${before.metadata.resourceVersion}&resourceVersionMatch=Exact`,
    )
    expect(body).toEqual(before)
  })

  it.each<[string, string, Json]>([
    [
      'no version',
      'resourceVersionMatch=Exact',
      {
        reason: 'FieldValueForbidden',
        message: 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      },
    ],
    [
      'an unknown word',
      'resourceVersion=1&resourceVersionMatch=Roughly',
      {
        reason: 'FieldValueNotSupported',
        message: 'Unsupported value: "Roughly": supported values: "Exact", "NotOlderThan", ""',
      },
    ],
    [
      'Exact and version 0',
      'resourceVersion=0&resourceVersionMatch=Exact',
      {
        reason: 'FieldValueForbidden',
        message: 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      },
    ],
  ])('is rejected with a match of %s', async (_, parameters, problem) => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}?${parameters}`)
    expect(status).toBe(422)
    expect(body).toEqual(invalid('ListOptions.meta.k8s.io', '', { field: 'resourceVersionMatch', ...problem }))
  })

  it('and its match are rejected with all errors', async () => {
    const { body } = await api.get(`${configMaps(api.namespace)}?resourceVersionMatch=Roughly`)
    expect(body.details.causes.map(({ reason }: Json) => reason)).toEqual([
      'FieldValueForbidden',
      'FieldValueNotSupported',
    ])
  })

  it.each(['abc', '-1', '1.5'])('is rejected when it is %s', async (version) => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}?resourceVersion=${version}`)
    expect(status).toBe(400)
    expect(body).toEqual(
      badRequest(
        `invalid resource version: resourceVersion: Invalid value: "${version}": strconv.ParseUint: parsing "${version}": invalid syntax`,
      ),
    )
  })

  it('cannot request the stream of initial events', async () => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}?sendInitialEvents=true`)
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid('ListOptions.meta.k8s.io', '', {
        field: 'sendInitialEvents',
        reason: 'FieldValueForbidden',
        message: 'Forbidden: sendInitialEvents is forbidden for list',
      }),
    )
  })

  // Each waits three seconds, so they run concurrently.
  it.concurrent.each([
    ['a list', '', ''],
    ['an exact list', '', '&resourceVersionMatch=Exact'],
    ['a get', '/kube-root-ca.crt', ''],
  ])('from the future makes %s wait and then fail', async (_, name, match) => {
    const { status, body, headers } = await api.get(
      `${configMaps(api.namespace)}${name}?resourceVersion=${FAR_FUTURE}${match}`,
    )
    expect(status).toBe(504)
    expect(headers['retry-after']).toBe('1')
    expect(body).toEqual(
      failure({
        code: 504,
        reason: 'Timeout',
        message: expect.stringMatching(
          new RegExp(`^Timeout: Too large resource version: ${FAR_FUTURE}, current: \\d+$`),
        ),
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      }),
    )
  })
})

describe('one object', () => {
  it('is read with its kind', async () => {
    const { paths } = await family('a')
    expect((await api.get(String(paths[0]))).body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' })
  })

  it('is at least as new as requested', async () => {
    const { paths } = await family('a')
    const of = String(paths[0])
    const { body } = await api.patch(of, { data: { k: 'v' } })
    expect((await api.get(`${of}?resourceVersion=${body.metadata.resourceVersion}`)).body).toEqual(body)
    expect((await api.get(`${of}?resourceVersion=0`)).status).toBe(200)
  })

  it('that is missing is named in the error', async () => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}/nobody`)
    expect(status).toBe(404)
    expect(body).toEqual(notFound('configmaps', 'nobody'))
    expect((await api.get(`${deployments(api.namespace)}/nobody`)).body).toEqual(notFound('deployments.apps', 'nobody'))
    expect((await api.get('/api/v1/nodes/nobody')).body).toEqual(notFound('nodes', 'nobody'))
  })

  it('that is missing is also missing in an unknown namespace', async () => {
    expect((await api.get(`${configMaps('no-such-namespace')}/nobody`)).body).toEqual(notFound('configmaps', 'nobody'))
  })

  it('cannot be read at an invalid version', async () => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}/kube-root-ca.crt?resourceVersion=abc`)
    expect(status).toBe(500)
    expect(body).toEqual(
      failure({
        code: 500,
        message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      }),
    )
  })
})
