/** The client with a real server, connections and TLS. */
import { answer, fixed, startHttps, type WireFixture, wireFixture } from '@reeve/test-servers'
import { beforeAll, describe, expect, it } from 'vitest'
import { ConfigMaps, createClient, isUnauthorized, Pods } from '../src/index.ts'

let wire: WireFixture
beforeAll(async () => {
  wire = await wireFixture()
})

describe('a client over the network', () => {
  it('reports a request that cannot be sent at all, and does not retry it', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => response.end('{}'))
    const client = createClient({ config: wire.configOf(server), impersonate: { user: 'jane\nx-injected: 1' } })
    const error = await client.get(Pods, { namespace: 'a', name: 'b' }).catch((reason: unknown) => reason)
    await client.close()
    expect(error).toMatchObject({ code: 'KUBE_INVALID_REQUEST', message: /invalid impersonate-user header/ })
    expect(server.seen).toEqual([])
  })

  it('ends a watch when its reader stops', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    await using server = await startHttps(wire.pair, (request, response) => {
      request.on('close', () => resolve())
      response.writeHead(200).write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n')
    })
    const client = createClient({ config: wire.configOf(server) })
    for await (const event of client.watch(Pods)) {
      expect(event.object.metadata).toEqual({ name: 'a' })
      break
    }
    await gone
    await client.close()
  })

  it('returns the message of a server that rejects its credentials', async () => {
    await using server = await startHttps(wire.pair, (_request, response) =>
      answer(response, 401, { kind: 'Status', message: 'who are you' }),
    )
    const client = createClient({
      config: wire.configOf(server, { credentials: fixed({ authorization: 'Bearer t' }) }),
    })
    const error = await client.get(Pods, { namespace: 'a', name: 'b' }).catch((reason: unknown) => reason)
    await client.close()
    expect(isUnauthorized(error)).toBe(true)
    expect(String(error)).toContain('who are you')
    expect(server.seen).toHaveLength(1)
  })

  it('tolerates a server that drops idle connections', async () => {
    await using server = await startHttps(wire.pair, (_request, response) =>
      answer(response, 200, { kind: 'ConfigMap', metadata: { name: 'b' } }),
    )
    const client = createClient({ config: wire.configOf(server) })
    for (let round = 0; round < 3; round++) {
      expect((await client.get(ConfigMaps, { namespace: 'a', name: 'b' })).kind).toBe('ConfigMap')
      server.cutConnections()
    }
    await client.close()
  })
})
