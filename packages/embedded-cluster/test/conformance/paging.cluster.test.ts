/** Paginated lists: limit, continue, the snapshot they are read from, and expired snapshots. */
import { beforeAll, describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps } from './support/objects.ts'
import { badRequest, failure } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const named = (body: Json) => body.items.map((item: Json) => item.metadata.name)
const events = (namespace: string) => `/api/v1/namespaces/${namespace}/events`

/** A continue token in the format of servers. */
function token(content: Json): string {
  return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64url')
}

function event(namespace: string, name: string): Json {
  return { metadata: { name }, involvedObject: { kind: 'Pod', namespace, name: 'subject' } }
}

/** A namespace with Events named after `names`. No other component creates Events there. */
async function namespaceWithEvents(...names: string[]): Promise<string> {
  const namespace = await api.newNamespace()
  for (const name of names) {
    await api.create(events(namespace), event(namespace, name))
  }
  return namespace
}

describe('pages', () => {
  let namespace: string
  beforeAll(async () => {
    namespace = await namespaceWithEvents('a', 'b', 'c', 'd', 'e')
  })

  const list = (query: string) => api.get(`${events(namespace)}?${query}`)

  it('have the requested size, and report how many items remain', async () => {
    const { status, body } = await list('limit=2')
    expect(status).toBe(200)
    expect(named(body)).toEqual(['a', 'b'])
    expect(body.metadata).toEqual({
      resourceVersion: expect.any(String),
      continue: expect.any(String),
      remainingItemCount: 3,
    })
  })

  it('are complete, without duplicates and of one version', async () => {
    const names: string[] = []
    const versions = new Set<string>()
    for (let next = ''; ; ) {
      const { body } = await list(`limit=2&continue=${next}`)
      names.push(...named(body))
      versions.add(body.metadata.resourceVersion)
      next = body.metadata.continue ?? ''
      if (next === '') break
    }
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(versions.size).toBe(1)
  })

  it('end without a token', async () => {
    const { body } = await list('limit=2')
    const last = await list(`limit=10&continue=${body.metadata.continue}`)
    expect(named(last.body)).toEqual(['c', 'd', 'e'])
    expect(last.body.metadata).toEqual({ resourceVersion: body.metadata.resourceVersion })
  })

  it('without a limit are a single page', async () => {
    const { body } = await list('limit=2')
    expect(named((await list(`continue=${body.metadata.continue}`)).body)).toEqual(['c', 'd', 'e'])
  })

  it.each(['limit=5', 'limit=6', 'limit=0', 'limit=-1'])('with %s contain everything', async (query) => {
    const { body } = await list(query)
    expect(named(body)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(body.metadata).not.toHaveProperty('continue')
  })

  it('do not report remaining items with a selector', async () => {
    const { body } = await list('limit=2&fieldSelector=involvedObject.kind%3DPod')
    expect(named(body)).toEqual(['a', 'b'])
    expect(body.metadata.continue).toEqual(expect.any(String))
    expect(body.metadata).not.toHaveProperty('remainingItemCount')
  })

  it.each([
    ['limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=99999999999999999999', 'strconv.ParseInt: parsing "99999999999999999999": value out of range'],
  ])('with %s are rejected', async (query, message) => {
    const { status, body } = await list(query)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest(message))
  })
})

describe('later pages', () => {
  it('have the state of the first one, whatever was written since', async () => {
    const namespace = await namespaceWithEvents('a', 'b', 'c', 'd')
    const first = await api.get(`${events(namespace)}?limit=2`)
    await api.delete(`${events(namespace)}/c`)
    await api.patch(`${events(namespace)}/d`, { reason: 'Changed' })
    await api.create(events(namespace), event(namespace, 'e'))
    const { body } = await api.get(`${events(namespace)}?limit=10&continue=${first.body.metadata.continue}`)
    expect(named(body)).toEqual(['c', 'd'])
    expect(body.items[1]).not.toHaveProperty('reason', 'Changed')
    expect(body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion)
  })

  it('of kinds in the watch cache do so, too', async () => {
    const namespace = await api.newNamespace()
    const label = unique('label')
    for (const name of ['a', 'b', 'c']) {
      await api.create(configMaps(namespace), configMap(name, { metadata: { labels: { label } } }))
    }
    const query = `${configMaps(namespace)}?labelSelector=label&limit=1`
    const first = await api.get(query)
    await api.delete(`${configMaps(namespace)}/b`)
    const { body } = await api.get(`${query}0&continue=${first.body.metadata.continue}`)
    expect(named(body)).toEqual(['b', 'c'])
  })

  it('cannot request another version', async () => {
    const namespace = await namespaceWithEvents('a', 'b')
    const { body } = await api.get(`${events(namespace)}?limit=1`)
    const next = `${events(namespace)}?continue=${body.metadata.continue}`
    const versioned = await api.get(`${next}&resourceVersion=${body.metadata.resourceVersion}`)
    expect(versioned.status).toBe(400)
    expect(versioned.body).toEqual(badRequest('specifying resource version is not allowed when using continue'))
    expect((await api.get(`${next}&resourceVersion=0`)).status).toBe(200)
    const matched = await api.get(`${next}&resourceVersionMatch=Exact`)
    expect(matched.status).toBe(422)
    expect(matched.body.details.causes.map(({ message }: Json) => message)).toEqual([
      'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      'Forbidden: resourceVersionMatch is forbidden when continue is provided',
    ])
  })
})

describe('a continue token', () => {
  const list = (continued: string) => api.get(`${events(api.namespace)}?limit=10&continue=${continued}`)

  it.each<[string, Json, string]>([
    [
      'of another version',
      { v: 'meta.k8s.io/v2', rv: 1, start: 'a' },
      'server does not recognize this encoded version meta.k8s.io/v2',
    ],
    [
      'without a revision',
      { v: 'meta.k8s.io/v1', rv: 0, start: 'a' },
      'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    ['without a start', { v: 'meta.k8s.io/v1', rv: 1, start: '' }, 'encoded start key empty (version meta.k8s.io/v1)'],
    ['that leaves its collection', { v: 'meta.k8s.io/v1', rv: 1, start: '../x' }, '../x'],
  ])('%s is rejected', async (_, content, why) => {
    const { status, body } = await list(token(content))
    expect(status).toBe(400)
    expect(body).toEqual(badRequest(`invalid continue token: continue key is not valid: ${why}`))
  })

  it.each([
    ['not JSON', token('this is no token')],
    ['not base64', '%21%21%21'],
  ])('that is %s is rejected', async (_, continued) => {
    const { status, body } = await list(continued)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest(expect.stringMatching(/^invalid continue token: continue key is not valid: ./)))
  })

  it('expires with its history, and the error has a token that continues from the latest state', async () => {
    const namespace = await namespaceWithEvents('a', 'b', 'c', 'd')
    const first = await api.get(`${events(namespace)}?limit=2`)
    await api.delete(`${events(namespace)}/c`)
    await api.cluster.compact()
    const expired = await api.get(`${events(namespace)}?limit=2&continue=${first.body.metadata.continue}`)
    expect(expired.status).toBe(410)
    const { metadata } = expired.body
    expect(expired.body).toEqual({
      ...failure({
        code: 410,
        reason: 'Expired',
        message: expect.stringMatching(
          /^The provided continue parameter is too old to display a consistent list result\. You can start a new list/,
        ),
      }),
      metadata: { continue: expect.any(String) },
    })
    const rest = await api.get(`${events(namespace)}?limit=2&continue=${metadata.continue}`)
    expect(rest.status).toBe(200)
    expect(named(rest.body)).toEqual(['d'])
    expect(Number(rest.body.metadata.resourceVersion)).toBeGreaterThan(Number(first.body.metadata.resourceVersion))
  })

  it('expires like an exact version', async () => {
    const namespace = await namespaceWithEvents('a')
    const { body } = await api.get(events(namespace))
    await api.delete(`${events(namespace)}/a`)
    await api.cluster.compact()
    const exact = await api.get(
      `${events(namespace)}?resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`,
    )
    expect(exact.status).toBe(410)
    expect(exact.body).toEqual(
      failure({ code: 410, reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' }),
    )
  })
})
