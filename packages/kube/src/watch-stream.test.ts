/** Watches from the consumer's view. */

import { setImmediate } from 'node:timers/promises'
import type { TransportRequest } from '@reeve/http'
import { describe, expect, it } from 'vitest'
import { Pods } from './builtin-resources.ts'
import type { KubeClient, WatchEvent, WatchOptions } from './client.ts'
import { createClient } from './create-client.ts'
import { isExpired } from './error-predicates.ts'
import { BadResponseError, ConnectionError } from './errors.ts'
import type { Pod } from './kinds/index.ts'
import { json, pieces, ScriptedTransport } from './testing/scripted-transport.ts'

const event = (type: string, name: string) =>
  `${JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'Pod', metadata: { name } } })}\n`

async function collect(events: AsyncIterable<WatchEvent<Pod>>): Promise<WatchEvent<Pod>[]> {
  const found: WatchEvent<Pod>[] = []
  for await (const each of events) found.push(each)
  return found
}

function watching(body: AsyncIterable<Uint8Array>) {
  const transport = new ScriptedTransport({ status: 200, headers: {}, body })
  return { transport, client: createClient({ transport, maxWatchLineBytes: 200 }) }
}

/** Both ways of reading a watch. */
const READERS = {
  watch: (client: KubeClient, options?: WatchOptions) => collect(client.watch(Pods, options)),
  follow: async (client: KubeClient, options: WatchOptions = {}) => {
    const found: WatchEvent<Pod>[] = []
    await client.follow(Pods, options, (each) => found.push(each))
    return found
  },
}

describe.each(['watch', 'follow'] as const)('%s', (method) => {
  const read = READERS[method]

  it('requests a stream with the given options', async () => {
    const { client, transport } = watching(pieces())
    const options = { namespace: 'shop', resourceVersion: '5', allowWatchBookmarks: true, timeoutSeconds: 200 }
    await read(client, { ...options, labelSelector: 'a=b', sendInitialEvents: false })
    expect(transport.requests[0]).toMatchObject({
      method: 'GET',
      isStream: true,
      path: '/api/v1/namespaces/shop/pods?labelSelector=a%3Db&watch=true&allowWatchBookmarks=true&sendInitialEvents=false&resourceVersion=5&timeoutSeconds=200',
    })
  })

  it('yields events and bookmarks and ends when the server does', async () => {
    const bookmark = '{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}\n'
    const { client } = watching(pieces(event('ADDED', 'a'), event('DELETED', 'a') + bookmark))
    const events = await read(client)
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'DELETED', 'BOOKMARK'])
    expect(events.at(-1)?.object.metadata.resourceVersion).toBe('9')
  })

  it('skips blank lines, also at the end', async () => {
    const { client } = watching(pieces(' \r\n\n', event('ADDED', 'a'), '  \n', event('DELETED', 'a'), '  '))
    expect((await read(client)).map(({ type }) => type)).toEqual(['ADDED', 'DELETED'])
  })

  it('skips unknown event types', async () => {
    const { client } = watching(pieces(event('SURPRISE', 'a'), event('ADDED', 'b')))
    expect((await read(client)).map(({ type }) => type)).toEqual(['ADDED'])
  })

  it('throws the error that the server sends in the stream', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
    const { client } = watching(pieces(event('ADDED', 'a'), JSON.stringify({ type: 'ERROR', object: status })))
    const error = await read(client).catch((reason: unknown) => reason)
    expect(isExpired(error)).toBe(true)
    expect(String(error)).toContain('watch pods: 410 Expired: too old resource version')
  })

  it('throws the error of a watch that never started, without retrying', async () => {
    const transport = new ScriptedTransport(json(503, { kind: 'Status' }))
    await expect(read(createClient({ transport }))).rejects.toMatchObject({ status: 503 })
    expect(transport.requests).toHaveLength(1)
  })

  it('reports a stream that breaks, or ends in the middle of an event, as a lost connection', async () => {
    const broken = async function* () {
      yield Buffer.from(event('ADDED', 'a'))
      throw new Error('other side closed')
    }
    await expect(read(watching(broken()).client)).rejects.toBeInstanceOf(ConnectionError)
    const cut = watching(pieces(event('ADDED', 'a').slice(0, 20)))
    await expect(read(cut.client)).rejects.toBeInstanceOf(ConnectionError)
  })

  it('rejects lines that are too long or not JSON, without quoting them', async () => {
    const long = watching(pieces(event('ADDED', 'x'.repeat(500))))
    await expect(read(long.client)).rejects.toBeInstanceOf(BadResponseError)
    const error = await read(watching(pieces('{"type": hunter2}\n')).client).catch(String)
    expect(error).toContain('not a JSON object')
    expect(error).not.toContain('hunter2')
  })

  it.each([
    '{"type":"ADDED"}',
    '{"type":"MODIFIED","object":null}',
    '{"type":"BOOKMARK","object":{"metadata":1}}',
    '[]',
  ])('rejects an event without an object: %s', async (line) => {
    const { client } = watching(pieces(`${line}\n`))
    await expect(read(client)).rejects.toThrow(BadResponseError)
  })

  it('reduces objects to metadata on request', async () => {
    const object = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name: 'a' } }
    const { client, transport } = watching(pieces(JSON.stringify({ type: 'ADDED', object })))
    const events = await read(client, { metadataOnly: true })
    expect(transport.requests[0]?.headers.accept).toContain('as=PartialObjectMetadata;')
    expect(events[0]?.object).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } })
  })

  it("ends with the signal's reason, before and after the first event", async () => {
    const reason = new Error('enough')
    await expect(read(watching(endless()).client, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const transport = new ScriptedTransport(async (request) => ({ status: 200, headers: {}, body: endless(request) }))
    const collecting = read(createClient({ transport }), { signal: controller.signal }).catch((e: unknown) => e)
    await setImmediate()
    controller.abort(reason)
    expect(await collecting).toBe(reason)
  })

  it('shows nothing of what has arrived once the signal aborted', async () => {
    const controller = new AbortController()
    const found: string[] = []
    const stop = ({ type }: WatchEvent<Pod>) => {
      found.push(type)
      controller.abort(new Error('enough'))
    }
    const { client } = watching(pieces(event('ADDED', 'a') + event('DELETED', 'a')))
    const { signal } = controller
    const reading =
      method === 'follow'
        ? client.follow(Pods, { signal }, stop)
        : (async () => {
            for await (const each of client.watch(Pods, { signal })) stop(each)
          })()
    await expect(reading).rejects.toThrow('enough')
    expect(found).toEqual(['ADDED'])
  })
})

describe('the request of a watch is cancelled', () => {
  it('when the consumer leaves the loop', async () => {
    const { client, transport } = watching(endless())
    for await (const { type } of client.watch(Pods)) {
      expect(type).toBe('ADDED')
      break
    }
    expect(transport.requests[0]?.signal?.aborted).toBe(true)
  })

  it('when what is called with each event fails', async () => {
    const { client, transport } = watching(endless())
    const failure = new Error('no room')
    const failing = client.follow(Pods, {}, () => {
      throw failure
    })
    await expect(failing).rejects.toBe(failure)
    expect(transport.requests[0]?.signal?.aborted).toBe(true)
  })
})

async function* endless(request?: TransportRequest): AsyncGenerator<Uint8Array> {
  yield Buffer.from(event('ADDED', 'a'))
  await new Promise((_resolve, reject) => {
    request?.signal?.addEventListener('abort', () => reject(request.signal?.reason))
  })
}
