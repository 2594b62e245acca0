/**
 * Malformed, unusual, oversized or incomplete requests: each gets a response or is closed, and the server keeps
 * working.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { request, type Step, sendBytes } from './support/bare-connection.ts'
import { ConformanceApi } from './support/conformance-api.ts'
import { configMaps } from './support/objects.ts'
import { SlowWatchers } from './support/slow-watchers.ts'
import { badRequest, failure, invalid, methodNotAllowed, resourceNotFound } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const json = 'Content-Type: application/json'
const mebibyte = 1024 * 1024
const limitBytes = 3 * mebibyte

/** A dry-run POST of a ConfigMap; the headers for its body are up to the case. */
const post = (headers: readonly string[], body = '') =>
  request(`POST ${configMaps(api.namespace)}?dryRun=All`, [json, ...headers], body)
const one = '{"metadata":{"name":"one"}}'

afterEach(async () => {
  expect((await api.get('/readyz')).text).toBe('ok')
})

describe('a malformed request is rejected:', () => {
  it.each<[string, number, () => Step]>([
    ['not HTTP', 400, () => 'nonsense\r\n\r\n'],
    ['another protocol', 400, () => Buffer.from([0, 1, 2, 3, 13, 10, 13, 10])],
    ['without a host', 400, () => 'GET /version HTTP/1.1\r\n\r\n'],
    ['with two hosts', 400, () => request('GET /version', ['Host: other'])],
    ['a version that does not exist', 505, () => 'GET /version HTTP/3.7\r\nHost: cluster\r\n\r\n'],
    ['a header without a value', 400, () => request('GET /version', ['X-Header'])],
    ['a header with a space in its name', 400, () => request('GET /version', ['X Header: a'])],
    ['a header with a zero byte', 400, () => request('GET /version', ['X-Header: a\0b'])],
    ['headers larger than a mebibyte', 431, () => request('GET /version', [`X-Header: ${'a'.repeat(2 * mebibyte)}`])],
    ['a path with an invalid escape', 400, () => request('GET /api/v1/namespaces/%zz')],
    ['a path with a space', 400, () => request('GET /api/v1/name spaces')],
    ['a path without a slash', 400, () => request('GET version')],
    ['a negative length', 400, () => post(['Content-Length: -1'])],
    ['a length that is not a number', 400, () => post(['Content-Length: many'])],
    ['two lengths', 400, () => post(['Content-Length: 27', 'Content-Length: 2'], one)],
    ['an unknown transfer encoding', 501, () => post(['Transfer-Encoding: secret'], one)],
  ])('%s', async (_, status, bytes) => {
    expect((await sendBytes(api, [bytes()])).statuses).toEqual([status])
  })

  it('a chunk without a length', async () => {
    const { statuses, body } = await sendBytes(api, [post(['Transfer-Encoding: chunked'], `zz\r\n${one}\r\n0\r\n\r\n`)])
    expect(statuses).toEqual([500])
    expect(body).toEqual(failure({ code: 500, message: 'invalid byte in chunk length' }))
  })

  it.each(['TRACE', 'OPTIONS', 'BREW', 'get'])('the method %s', async (method) => {
    const { statuses, body } = await sendBytes(api, [request(`${method} ${configMaps(api.namespace)}`)])
    expect(statuses).toEqual([405])
    expect(body).toEqual(methodNotAllowed)
  })

  it('plain text on the TLS port', async () => {
    const plain = fetch(`${api.cluster.connection.server.replace('https', 'http')}/version`)
    const status = await plain.then(
      (response) => response.status,
      () => 'cut',
    )
    // A real server responds with 400 here.
    expect([400, 'cut']).toContain(status)
  })
})

describe('an unusual request is served:', () => {
  it.each<[string, number, () => Step]>([
    ['half a mebibyte of headers', 200, () => request('GET /readyz', [`X-Header: ${'a'.repeat(mebibyte / 2)}`])],
    [
      'five hundred headers',
      200,
      () =>
        request(
          'GET /readyz',
          Array.from({ length: 500 }, (_, n) => `X-${n}: a`),
        ),
    ],
    ['a path with the name of the server', 200, () => request('GET http://elsewhere/readyz')],
    ['an old version of HTTP', 200, () => 'GET /readyz HTTP/1.0\r\n\r\n'],
    ['an upgrade to an unknown protocol', 200, () => request('GET /readyz', ['Upgrade: teapot'])],
    ['a body of a request without one', 200, () => request('GET /readyz', [json], '{}')],
    ['a body in chunks', 201, () => post(['Transfer-Encoding: chunked'], `1b\r\n${one}\r\n0\r\n\r\n`)],
    ['an escaped slash', 200, () => request(`GET /api/v1/namespaces/${api.namespace}%2Fconfigmaps`)],
    ['two slashes', 404, () => request('GET //readyz')],
    ['a parent path segment', 404, () => request('GET /api/v1/namespaces/../nodes')],
    ['an unsupported expectation', 417, () => post(['Expect: miracles'], one)],
  ])('%s', async (_, status, bytes) => {
    const { statuses } = await sendBytes(api, [bytes()])
    expect(statuses[0]).toBe(status)
  })

  it('a very long path', async () => {
    const { statuses, body } = await sendBytes(api, [request(`GET /api/v1/${'a'.repeat(20_000)}`)])
    expect(statuses).toEqual([404])
    expect(body).toEqual(resourceNotFound)
  })

  it('two pipelined requests, in order', async () => {
    const { statuses, text } = await sendBytes(api, [
      `GET /no-such-path HTTP/1.1\r\nHost: cluster\r\n\r\n${request('GET /readyz')}`,
    ])
    expect(statuses).toEqual([404, 200])
    expect(text).toBe('ok')
  })

  it('one with Expect: 100-continue', async () => {
    const head = post(['Expect: 100-continue', `Content-Length: ${one.length}`])
    expect((await sendBytes(api, [head, 200, one])).statuses).toEqual([100, 201])
  })

  it('one that arrives in small pieces', async () => {
    const whole = post([], one)
    const steps = Array.from({ length: 8 }, (_, n) => whole.slice(n * 40, n * 40 + 40)).flatMap((bit) => [bit, 50])
    expect((await sendBytes(api, [...steps, whole.slice(320)])).statuses).toEqual([201])
  })
})

describe('a body that is not an object is rejected:', () => {
  const unrecognized = (why: string, shown: string) =>
    badRequest(
      `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ${why} (${shown})`,
    )
  it.each<[string, string, string, string]>([
    ['nothing', '', 'unexpected end of JSON input', '<empty>'],
    ['a truncated object', '{', 'unexpected end of JSON input', '{'],
    ['another format', '<html>', "invalid character '<' looking for beginning of value", '3c68746d6c3e'],
    ['trailing data', `${one} x`, "invalid character 'x' after top-level value", `${one} x`],
    ['no colon', '{"a" 1}', "invalid character '1' after object key", '{"a" 1}'],
    ['no comma', '{"a":1 2}', "invalid character '2' after object key:value pair", '{"a":1 2}'],
    ['no comma in a list', '{"a":[1 2]}', "invalid character '2' after array element", '{"a":[1 2]}'],
    ['no quotes', '{a:1}', "invalid character 'a' looking for beginning of object key string", '{a:1}'],
    ['an invalid escape', '{"a":"\\x"}', "invalid character 'x' in string escape code", '{"a":"\\x"}'],
    ['a tab in a string', '{"a":"\t"}', "invalid character '\\t' in string literal", '{"a":"\t"}'],
    [
      'a number for a kind',
      '{"kind":1}',
      'json: cannot unmarshal number into Go struct field .kind of type string',
      '{"kind":1}',
    ],
    ['a byte order mark', '\u{feff}{}', "invalid character 'ï' looking for beginning of value", 'efbbbf7b7d'],
    [
      'unlimited depth',
      `${'{"a":'.repeat(11_000)}1${'}'.repeat(11_000)}`,
      "invalid character '{' exceeded max depth",
      '{"a":{"a":{"a":{"a":{"a":{"a": ...',
    ],
  ])('%s', async (_, text, why, shown) => {
    const { status, body } = await api.post(configMaps(api.namespace), text)
    expect(status).toBe(400)
    expect(body).toEqual(unrecognized(why, shown))
  })

  it('except for null, which is an object without a name', async () => {
    const { status, body } = await api.post(configMaps(api.namespace), 'null')
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid('ConfigMap', '', {
        field: 'metadata.name',
        reason: 'FieldValueRequired',
        message: 'Required value: name or generateName is required',
      }),
    )
  })

  it('and a lone surrogate is replaced', async () => {
    const text = '{"metadata":{"name":"half"},"data":{"a":"\\ud800","b":"\\ud83d\\ude00"}}'
    const { body } = await api.post(`${configMaps(api.namespace)}?dryRun=All`, text)
    expect(body.data).toEqual({ a: '\ufffd', b: '😀' })
  })

  it('and names with a meaning in JavaScript are plain names', async () => {
    const text = '{"metadata":{"name":"names"},"data":{"__proto__":"x","constructor":"y","toString":"z"}}'
    const { text: answered } = await api.post(`${configMaps(api.namespace)}?dryRun=All`, text)
    expect(answered).toContain('"data":{"__proto__":"x","constructor":"y","toString":"z"}')
  })
})

describe('a body over three mebibytes is rejected', () => {
  const tooLarge = failure({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: limit is ${limitBytes}`,
  })

  it.each<[string, 'POST' | 'PUT' | 'PATCH' | 'DELETE', string]>([
    ['in a creation', 'POST', ''],
    ['in a replacement', 'PUT', '/any'],
    ['in a patch', 'PATCH', '/any'],
    ['in a deletion', 'DELETE', '/any'],
  ])('%s', async (_, method, name) => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const body = `{"data":{"a":"${'x'.repeat(limitBytes)}"}}`
    const response = await api.send(method, `${configMaps(api.namespace)}${name}`, body, {
      'content-type': contentType,
    })
    expect(response.status).toBe(413)
    expect(response.body).toEqual(tooLarge)
  })

  it('also without a content length', async () => {
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    const chunks = chunk.repeat(limitBytes / 0x10000 + 1)
    const { statuses, body } = await sendBytes(api, [post(['Transfer-Encoding: chunked']), chunks, '0\r\n\r\n'])
    expect(statuses).toEqual([413])
    expect(body).toEqual(tooLarge)
  })

  it('while one that is only too large for its kind gets a specific error', async () => {
    const body = { metadata: { name: 'large' }, data: { a: 'x'.repeat(2 * mebibyte) } }
    const response = await api.post(configMaps(api.namespace), body)
    expect(response.status).toBe(422)
    expect(response.body.message).toBe('ConfigMap "large" is invalid: []: Too long: may not be more than 1048576 bytes')
  })
})

describe('a client that disconnects', () => {
  it('in the middle of the headers leaves nothing behind', async () => {
    const { statuses } = await sendBytes(api, ['POST /api/v1/namespa'], { halfClose: true })
    expect(statuses).toEqual([400])
  })

  it('in the middle of the body has written nothing', async () => {
    const path = configMaps(api.namespace)
    const head = request(`POST ${path}`, [json, 'Content-Length: 1000'])
    const { statuses } = await sendBytes(api, [head, '{"metadata":{"name":"cut-off"}}'], { halfClose: true })
    expect(statuses).not.toContain(201)
    expect((await api.get(`${path}/cut-off`)).status).toBe(404)
  })

  it('fifty times during a watch is harmless', async () => {
    const watchers = await SlowWatchers.open(api.cluster.connection, `${configMaps(api.namespace)}?watch=true`, 50)
    await watchers[Symbol.asyncDispose]()
  })
})

describe('watchers that do not read', () => {
  it('block neither writers nor other readers', { timeout: 120_000 }, async () => {
    const path = configMaps(await api.newNamespace())
    await using _slow = await SlowWatchers.open(api.cluster.connection, `${path}?watch=true`, 50)
    const names = Array.from({ length: 40 }, (_, n) => `n${n}`)
    const reader = (async () => {
      const seen: string[] = []
      for await (const { object } of api.cluster.raw.watch(`${path}?watch=true&resourceVersion=0`)) {
        if (object.metadata.name.startsWith('n')) seen.push(object.metadata.name)
        if (seen.length === names.length) break
      }
      return seen
    })()
    const data = { text: 'x'.repeat(100_000) }
    for (const name of names) await api.create(path, { metadata: { name }, data })
    expect(await reader).toEqual(names)
  })
})
