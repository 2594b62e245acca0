/** Compressed lists: when they are requested, and what a server may do with them. */
import { Readable } from 'node:stream'
import { createGzip, gzipSync } from 'node:zlib'
import { startHttps, type WireFixture, wireFixture } from '@reeve/test-servers'
import { beforeAll, describe, expect, it } from 'vitest'
import { ConfigMaps } from './builtin-resources.ts'
import { paysToCompress } from './content-encoding.ts'
import { type ClientOptions, createClient } from './create-client.ts'
import { json, pieces, ScriptedTransport, text } from './testing/scripted-transport.ts'

const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '1' }, items: [] }
const GZIP = { 'content-type': 'application/json', 'content-encoding': 'gzip' }

let wire: WireFixture
beforeAll(async () => {
  wire = await wireFixture()
})

/** A client of a server that sends these bytes. */
const answering = (body: Uint8Array, headers: Readonly<Record<string, string>>, options: ClientOptions = {}) =>
  createClient({
    transport: new ScriptedTransport({ status: 200, headers, body: pieces(body) }),
    compressLists: true,
    retries: { maxRetries: 0 },
    ...options,
  })

describe('a compressed response', () => {
  it('is decompressed', async () => {
    const client = answering(gzipSync(JSON.stringify(list)), GZIP)
    expect((await client.list(ConfigMaps)).items).toEqual([])
  })

  it('is decompressed when it is an error, too', async () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'Forbidden',
      message: 'no',
      code: 403,
    }
    const body = pieces(gzipSync(JSON.stringify(status)))
    const client = createClient({ transport: new ScriptedTransport({ status: 403, headers: GZIP, body }) })
    await expect(client.list(ConfigMaps)).rejects.toMatchObject({ status: 403, reason: 'Forbidden' })
  })

  it.each([
    ['that is damaged', Buffer.from('not gzip at all'), 'gzip', 'not valid gzip'],
    ['that ends too early', gzipSync(JSON.stringify(list)).subarray(0, 20), 'gzip', 'not valid gzip'],
    ['in another encoding', Buffer.from('x'), 'br', 'content-encoding "br"; only gzip is known'],
  ])('%s is a bad response', async (_, body, encoding, message) => {
    const client = answering(body, { ...GZIP, 'content-encoding': encoding })
    await expect(client.list(ConfigMaps)).rejects.toMatchObject({
      code: 'KUBE_BAD_RESPONSE',
      message: expect.stringContaining(message),
    })
  })

  it('that never ends is cut off at the limit, and the connection is closed', async () => {
    const closed = Promise.withResolvers<void>()
    let madeBytes = 0
    function* zeros() {
      for (;;) {
        madeBytes += 1024 * 1024
        yield Buffer.alloc(1024 * 1024)
      }
    }
    await using server = await startHttps(wire.pair, (_request, response) => {
      response.on('close', () => closed.resolve())
      response.writeHead(200, GZIP)
      Readable.from(zeros()).pipe(createGzip()).pipe(response)
    })
    const config = wire.configOf(server)
    const client = createClient({ config, compressLists: true, maxResponseBytes: 2 * 1024 * 1024 })
    await expect(client.list(ConfigMaps)).rejects.toMatchObject({
      code: 'KUBE_BAD_RESPONSE',
      message: expect.stringContaining('exceeds 2097152 bytes'),
    })
    await closed.promise
    await client.close()
    // A thousandth of what is decompressed is sent, so that much may be on its way.
    expect(madeBytes).toBeGreaterThan(2 * 1024 * 1024)
  })
})

describe('compression is requested', () => {
  const encodings = async (options: Parameters<typeof createClient>[0], transport: ScriptedTransport) => {
    const client = createClient(options)
    await client.list(ConfigMaps)
    await client.get(ConfigMaps, { namespace: 'shop', name: 'x' })
    return transport.requests.map(({ headers }) => headers['accept-encoding'])
  }
  const transport = () => new ScriptedTransport(json(200, list), json(200, { ...list, metadata: { name: 'x' } }))

  it('for lists only, and not without need', async () => {
    const asked = transport()
    expect(await encodings({ transport: asked, compressLists: true }, asked)).toEqual(['gzip', undefined])
    const unasked = transport()
    expect(await encodings({ transport: unasked }, unasked)).toEqual([undefined, undefined])
  })

  it.each([
    ['https://127.0.0.1:6443', false],
    ['https://localhost', false],
    ['https://[::1]:6443', false],
    ['https://127.0.0.1.example.com', true],
    ['https://10.0.0.1:443/prefix', true],
  ])('by default for %s: %s', (server, isCompressed) => {
    expect(paysToCompress({ server })).toBe(isCompressed)
    expect(paysToCompress({ server, disableCompression: true })).toBe(false)
  })
})

it('a text that is not JSON is not taken for a compressed one', async () => {
  const client = createClient({ transport: new ScriptedTransport(text(200, 'ok')) })
  expect(await client.raw({ method: 'GET', path: '/healthz' })).toBe('ok')
})
