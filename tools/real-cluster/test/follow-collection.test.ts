/** Following a collection survives server and network failures. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ApiClient } from '../src/api-client.ts'
import { type Change, follow } from '../src/nodes/collection.ts'
import type { Node } from '../src/nodes/objects.ts'

type Answer = (response: ServerResponse) => void

const node = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } })
const list =
  (resourceVersion: string, names: readonly string[]): Answer =>
  (response) =>
    response.end(JSON.stringify({ metadata: { resourceVersion }, items: names.map((name) => node(name, '1')) }))
const events =
  (...values: object[]): Answer =>
  (response) => {
    for (const value of values) response.write(`${JSON.stringify(value)}\n`)
  }

describe('following a collection', () => {
  const stopping = { controller: new AbortController() }
  let answers: Answer[]
  let requests: string[]
  let client: ApiClient
  let failures: unknown[]
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://server')
    requests.push(url.searchParams.has('watch') ? `watch ${url.searchParams.get('resourceVersion')}` : 'list')
    answers.shift()?.(response)
  })

  beforeEach(async () => {
    stopping.controller = new AbortController()
    requests = []
    failures = []
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    // A server that listens on TCP has an AddressInfo.
    const { port } = server.address() as AddressInfo
    client = new ApiClient({ server: `http://127.0.0.1:${port}`, ca: '' })
  })
  afterEach(async () => {
    stopping.controller.abort()
    await client.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  const take = async (count: number): Promise<string[]> => {
    const seen: string[] = []
    const options = { signal: stopping.controller.signal, onFailure: (error: unknown) => failures.push(error) }
    for await (const change of follow<Node>(client, '/api/v1/nodes', options)) {
      seen.push(describeChange(change))
      if (seen.length === count) break
    }
    return seen
  }

  it('lists, then watches from the version of the list', async () => {
    answers = [
      list('5', ['a']),
      events({ type: 'ADDED', object: node('b', '6') }, { type: 'DELETED', object: node('a', '7') }),
    ]
    expect(await take(3)).toEqual(['replaced a', 'changed b', 'deleted a'])
    expect(requests).toEqual(['list', 'watch 5'])
  })

  it('resumes after the last event when the watch ends', async () => {
    answers = [
      list('5', []),
      (response) => {
        events({ type: 'BOOKMARK', object: node('', '9') })(response)
        response.end()
      },
      events({ type: 'ADDED', object: node('a', '10') }),
    ]
    expect(await take(2)).toEqual(['replaced ', 'changed a'])
    expect(requests).toEqual(['list', 'watch 5', 'watch 9'])
    expect(failures).toEqual([])
  })

  it('resumes when the connection is reset', async () => {
    answers = [list('5', []), (response) => response.destroy(), events({ type: 'ADDED', object: node('a', '6') })]
    expect(await take(2)).toEqual(['replaced ', 'changed a'])
    expect(requests).toEqual(['list', 'watch 5', 'watch 5'])
    expect(failures).toHaveLength(1)
  })

  it('lists again when the version is too old, by status or by event', async () => {
    const gone: Answer = (response) => {
      response.statusCode = 410
      response.end('{}')
    }
    answers = [
      list('5', ['a']),
      gone,
      list('6', ['b']),
      events({ type: 'ERROR', object: { code: 410, metadata: {} } }),
      list('7', ['c']),
    ]
    expect(await take(3)).toEqual(['replaced a', 'replaced b', 'replaced c'])
  })

  it('keeps trying while the server fails', async () => {
    const broken: Answer = (response) => {
      response.statusCode = 503
      response.end('{}')
    }
    answers = [broken, broken, list('5', ['a'])]
    expect(await take(1)).toEqual(['replaced a'])
    expect(failures).toHaveLength(2)
  })

  it('reads lists in pages', async () => {
    const firstPage = { metadata: { resourceVersion: '5', continue: 'more' }, items: [node('a', '1')] }
    answers = [(response) => response.end(JSON.stringify(firstPage)), list('5', ['b'])]
    expect(await take(1)).toEqual(['replaced a,b'])
  })

  it('ends without an error when stopped', async () => {
    answers = [list('5', []), () => stopping.controller.abort()]
    expect(await take(9)).toEqual(['replaced '])
    expect(failures).toEqual([])
  })
})

function describeChange(change: Change<Node>): string {
  if (change.type === 'replaced') return `replaced ${change.objects.map(({ metadata }) => metadata.name).join(',')}`
  return `${change.type} ${change.object.metadata.name}`
}
