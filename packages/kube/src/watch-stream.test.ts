/** Watches from the consumer's view. */
import { describe, expect, it } from 'vitest'
import { Pods } from './builtin-resources.ts'
import type { WatchEvent } from './client.ts'
import { createClient } from './create-client.ts'
import { isExpired } from './error-predicates.ts'
import { BadResponseError, ConnectionError } from './errors.ts'
import type { Pod } from './kinds/index.ts'
import { settle } from './testing/manual-clock.ts'
import { json, pieces, ScriptedTransport } from './testing/scripted-transport.ts'
import type { TransportRequest } from './transport.ts'

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

describe('watch', () => {
  it('requests a stream with the given options', async () => {
    const { client, transport } = watching(pieces())
    const options = { namespace: 'shop', resourceVersion: '5', allowWatchBookmarks: true, timeoutSeconds: 200 }
    await collect(client.watch(Pods, { ...options, labelSelector: 'a=b', sendInitialEvents: false }))
    expect(transport.requests[0]).toMatchObject({
      method: 'GET',
      isStream: true,
      path: '/api/v1/namespaces/shop/pods?labelSelector=a%3Db&watch=true&allowWatchBookmarks=true&sendInitialEvents=false&resourceVersion=5&timeoutSeconds=200',
    })
  })

  it('yields events and bookmarks and ends when the server does', async () => {
    const bookmark = '{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}\n'
    const { client } = watching(pieces(event('ADDED', 'a'), event('DELETED', 'a') + bookmark))
    const events = await collect(client.watch(Pods))
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'DELETED', 'BOOKMARK'])
    expect(events.at(-1)?.object.metadata.resourceVersion).toBe('9')
  })

  it('skips blank lines, also at the end', async () => {
    const { client } = watching(pieces(' \r\n\n', event('ADDED', 'a'), '  \n', event('DELETED', 'a'), '  '))
    expect((await collect(client.watch(Pods))).map(({ type }) => type)).toEqual(['ADDED', 'DELETED'])
  })

  it('skips unknown event types', async () => {
    const { client } = watching(pieces(event('SURPRISE', 'a'), event('ADDED', 'b')))
    expect((await collect(client.watch(Pods))).map(({ type }) => type)).toEqual(['ADDED'])
  })

  it('throws the error that the server sends in the stream', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
    const { client } = watching(pieces(event('ADDED', 'a'), JSON.stringify({ type: 'ERROR', object: status })))
    const error = await collect(client.watch(Pods)).catch((reason: unknown) => reason)
    expect(isExpired(error)).toBe(true)
    expect(String(error)).toContain('watch pods: 410 Expired: too old resource version')
  })

  it('throws the error of a watch that never started, without retrying', async () => {
    const transport = new ScriptedTransport(json(503, { kind: 'Status' }))
    await expect(collect(createClient({ transport }).watch(Pods))).rejects.toMatchObject({ status: 503 })
    expect(transport.requests).toHaveLength(1)
  })

  it('reports a stream that breaks, or ends in the middle of an event, as a lost connection', async () => {
    const broken = async function* () {
      yield Buffer.from(event('ADDED', 'a'))
      throw new Error('other side closed')
    }
    await expect(collect(watching(broken()).client.watch(Pods))).rejects.toBeInstanceOf(ConnectionError)
    const cut = watching(pieces(event('ADDED', 'a').slice(0, 20)))
    await expect(collect(cut.client.watch(Pods))).rejects.toBeInstanceOf(ConnectionError)
  })

  it('rejects lines that are too long or not JSON, without quoting them', async () => {
    const long = watching(pieces(event('ADDED', 'x'.repeat(500))))
    await expect(collect(long.client.watch(Pods))).rejects.toBeInstanceOf(BadResponseError)
    const error = await collect(watching(pieces('{"type": hunter2}\n')).client.watch(Pods)).catch(String)
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
    await expect(collect(client.watch(Pods))).rejects.toThrow(BadResponseError)
  })

  it('reduces objects to metadata on request', async () => {
    const object = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name: 'a' } }
    const { client, transport } = watching(pieces(JSON.stringify({ type: 'ADDED', object })))
    const events = await collect(client.watch(Pods, { metadataOnly: true }))
    expect(transport.requests[0]?.headers.accept).toContain('as=PartialObjectMetadata;')
    expect(events[0]?.object).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } })
  })

  it('cancels the request when the consumer leaves the loop', async () => {
    const { client, transport } = watching(endless())
    for await (const { type } of client.watch(Pods)) {
      expect(type).toBe('ADDED')
      break
    }
    expect(transport.requests[0]?.signal?.aborted).toBe(true)
  })

  it("ends with the signal's reason, before and after the first event", async () => {
    const reason = new Error('enough')
    await expect(collect(watching(endless()).client.watch(Pods, { signal: AbortSignal.abort(reason) }))).rejects.toBe(
      reason,
    )
    const controller = new AbortController()
    const transport = new ScriptedTransport(async (request) => ({ status: 200, headers: {}, body: endless(request) }))
    const collecting = collect(createClient({ transport }).watch(Pods, { signal: controller.signal })).catch(
      (e: unknown) => e,
    )
    await settle()
    controller.abort(reason)
    expect(await collecting).toBe(reason)
  })
})

async function* endless(request?: TransportRequest): AsyncGenerator<Uint8Array> {
  yield Buffer.from(event('ADDED', 'a'))
  await new Promise((_resolve, reject) => {
    request?.signal?.addEventListener('abort', () => reject(request.signal?.reason))
  })
}
