/** Requests and credentials over the network, with real TLS servers. */
import { TLSSocket } from 'node:tls'
import {
  answer,
  bodyOf,
  fixed,
  get,
  read,
  startHttps,
  transportOf,
  type WireFixture,
  wireFixture,
} from '@reeve/test-servers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CredentialSource, Credentials } from './server-config.ts'

let wire: WireFixture
beforeAll(async () => {
  wire = await wireFixture()
})

describe('requests', () => {
  it('contain method, path under the prefix of the server, headers, body and credentials', async () => {
    await using server = await startHttps(wire.pair, async (request, response) => {
      const { method, url, headers } = request
      answer(response, 200, { method, url, headers, body: await bodyOf(request) })
    })
    const config = wire.configOf(server, {
      server: `${server.url}/k8s/clusters/c1`,
      credentials: fixed({ authorization: 'Bearer t' }),
    })
    await using transport = transportOf(config)
    const repeatedHeaders = { 'x-repeated': ['a', 'b'] }
    const response = await transport.send({
      method: 'PUT',
      path: '/api/v1/x?y=1',
      headers: { 'x-one': '1' },
      repeatedHeaders,
      body: 'ä',
    })
    expect(response.status).toBe(200)
    expect(JSON.parse(await read(response.body))).toMatchObject({
      method: 'PUT',
      url: '/k8s/clusters/c1/api/v1/x?y=1',
      headers: { 'x-one': '1', 'x-repeated': 'a, b', authorization: 'Bearer t', 'content-length': '2' },
      body: 'ä',
    })
  })

  it('share connections, and wait for a free one beyond the limit', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => answer(response, 200, {}))
    await using transport = transportOf(wire.configOf(server), { connections: 2 })
    const one = async () => read((await transport.send(get('/x'))).body)
    await Promise.all(Array.from({ length: 10 }, one))
    await one()
    expect(server.seen).toHaveLength(11)
    expect(server.connections()).toBeLessThanOrEqual(2)
  })

  it('are not blocked by open streams', async () => {
    await using server = await startHttps(wire.pair, (request, response) => {
      if (request.url === '/stream') response.writeHead(200).write('{}\n')
      else answer(response, 200, {})
    })
    await using transport = transportOf(wire.configOf(server), { connections: 1 })
    const streams = await Promise.all(
      Array.from({ length: 3 }, () => transport.send(get('/stream', { isStream: true }))),
    )
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await read((await transport.send(get('/x'))).body)).toBe('{}')
  })

  it('report repeated response headers separately', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => {
      response.setHeader('warning', ['299 - "one"', '299 - "two"'])
      answer(response, 200, {})
    })
    await using transport = transportOf(wire.configOf(server))
    expect((await transport.send(get('/x'))).headers.warning).toEqual(['299 - "one"', '299 - "two"'])
  })
})

describe('credentials', () => {
  it('use a client certificate, and a new one on new connections', async () => {
    const commonNames: unknown[] = []
    await using server = await startHttps(
      wire.pair,
      (request, response) => {
        if (request.socket instanceof TLSSocket) commonNames.push(request.socket.getPeerCertificate().subject?.CN)
        answer(response, 200, {})
      },
      { requestCert: true, ca: wire.authority.certificate, rejectUnauthorized: true },
    )
    let clientCertificate = await wire.authority.client('jane')
    const credentials: CredentialSource = { get: async () => ({ clientCertificate }), renew: async () => undefined }
    await using transport = transportOf(wire.configOf(server, { credentials }))
    await read((await transport.send(get('/x'))).body)
    await read((await transport.send(get('/x'))).body)
    clientCertificate = await wire.authority.client('joe')
    await read((await transport.send(get('/x'))).body)
    expect(commonNames).toEqual(['jane', 'jane', 'joe'])
  })

  it('are renewed once after a 401, and the request with its body is sent again', async () => {
    const bodies: string[] = []
    await using server = await startHttps(wire.pair, async (request, response) => {
      bodies.push(await bodyOf(request))
      answer(response, request.headers.authorization === 'Bearer new' ? 201 : 401, {})
    })
    let current: Credentials = { authorization: 'Bearer old' }
    const credentials: CredentialSource = {
      get: async () => current,
      renew: async () => {
        current = { authorization: 'Bearer new' }
        return current
      },
    }
    await using transport = transportOf(wire.configOf(server, { credentials }))
    const response = await transport.send({ method: 'POST', path: '/x', headers: {}, body: 'payload' })
    expect(response.status).toBe(201)
    expect(bodies).toEqual(['payload', 'payload'])
  })

  it('that are rejected again return the 401 to the caller, with its body', async () => {
    await using server = await startHttps(wire.pair, (_request, response) =>
      answer(response, 401, { kind: 'Status', message: 'who are you' }),
    )
    await using transport = transportOf(wire.configOf(server, { credentials: fixed({ authorization: 'Bearer t' }) }))
    const response = await transport.send(get('/x'))
    expect(response.status).toBe(401)
    expect(await read(response.body)).toContain('who are you')
    expect(server.seen).toHaveLength(1)
  })
})
