/** Formats of requests and responses: JSON, YAML, protobuf, compression, protocol versions. */
import { once } from 'node:events'
import { connect } from 'node:http2'
import { beforeAll, describe, expect, it } from 'vitest'
import { ConformanceApi, unique } from './support/conformance-api.ts'
import { configMap, configMaps } from './support/objects.ts'
import { failure } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const OFFERED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
let path: string
beforeAll(async () => {
  const name = unique('object')
  await api.create(configMaps(api.namespace), configMap(name, { data: { b: 'true', a: '1', c: 'x: y\nz' } }))
  path = `${configMaps(api.namespace)}/${name}`
})

describe('a response', () => {
  it.each([
    'application/json',
    '*/*',
    '',
    'application/json;charset=utf-8',
    'application/json;profile=nice',
    'application/xml, application/json;q=0.5',
    'application/json;as=Table;g=meta.k8s.io;v=v9, application/json',
  ])('to Accept: %s is JSON', async (accept) => {
    const { status, headers, body } = await api.get(path, { accept })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json')
    expect(body.kind).toBe('ConfigMap')
  })

  it.each(['application/yaml', 'application/json;q=0.1, application/yaml'])('to Accept: %s is YAML', async (accept) => {
    const { status, headers, text } = await api.get(path, { accept })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/yaml')
    expect(text).toMatch(
      /^apiVersion: v1\ndata:\n {2}a: "1"\n {2}b: "true"\n {2}c: \|-\n {4}x: y\n {4}z\nkind: ConfigMap\n/,
    )
  })

  it('may be a list or an error in YAML', async () => {
    const list = await api.get(`${configMaps(api.namespace)}?labelSelector=nobody`, { accept: 'application/yaml' })
    expect(list.text).toMatch(
      /^apiVersion: v1\nitems: \[\]\nkind: ConfigMapList\nmetadata:\n {2}resourceVersion: "\d+"\n$/,
    )
    const missing = await api.get(`${path}-missing`, { accept: 'application/yaml' })
    expect(missing.status).toBe(404)
    expect(missing.text).toContain('reason: NotFound\n')
  })

  it.each(['text/html', 'application/cbor', 'garbage', 'application/*'])(
    'to Accept: %s is an error',
    async (accept) => {
      const { status, body } = await api.get(path, { accept })
      expect(status).toBe(406)
      expect(body).toEqual(
        failure({
          code: 406,
          reason: 'NotAcceptable',
          message: `406: Not Acceptable\n\nAvailable representations: ${OFFERED}`,
          details: {},
        }),
      )
    },
  )

  it.each([
    'application/json;as=Nope;g=meta.k8s.io;v=v1',
    'application/json;as=Table;g=meta.k8s.io;v=v9',
    'application/json;as=Table;g=other;v=v1',
  ])('to only Accept: %s is an error', async (accept) => {
    const { status, body } = await api.get(path, { accept })
    expect(status).toBe(406)
    expect(body).toEqual(
      failure({
        code: 406,
        reason: 'NotAcceptable',
        message: `only the following media types are accepted: ${OFFERED}`,
      }),
    )
  })

  it('with many bytes is compressed on request', async () => {
    const name = unique('large')
    await api.create(configMaps(api.namespace), configMap(name, { data: { k: 'x'.repeat(200 * 1024) } }))
    const large = await api.get(`${configMaps(api.namespace)}/${name}`, { 'accept-encoding': 'gzip' })
    expect(large.headers['content-encoding']).toBe('gzip')
    const small = await api.get(path, { 'accept-encoding': 'gzip' })
    expect(small.headers).not.toHaveProperty('content-encoding')
  })

  it('contains all characters as they are, or escaped as JSON allows', async () => {
    const name = unique('signs')
    const data = { k: 'é < > & \u2028 "quoted" \\ 𝄞' }
    const created = await api.create(configMaps(api.namespace), configMap(name, { data }))
    expect(created.data).toEqual(data)
    expect((await api.get(`${configMaps(api.namespace)}/${name}`)).body.data).toEqual(data)
  })
})

describe('a request body', () => {
  const post = (body: string | Uint8Array, contentType: string) =>
    api.post(`${configMaps(api.namespace)}?dryRun=All`, body, { 'content-type': contentType })

  it.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', ''])(
    'may be JSON: %s',
    async (contentType) => {
      const { status } = await post(JSON.stringify(configMap('x')), contentType)
      expect(status).toBe(201)
    },
  )

  it('may be YAML', async () => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: "1"\n  text: |\n    line\n'
    const { status, body } = await post(yaml, 'application/yaml')
    expect(status).toBe(201)
    expect(body.data).toEqual({ a: '1', text: 'line\n' })
  })

  it('in YAML is rejected for wrong types', async () => {
    const { status, body } = await post('metadata: {name: x}\ndata: {a: 1}\n', 'application/yaml')
    expect(status).toBe(400)
    expect(body.message).toContain('json: cannot unmarshal number into Go struct field ConfigMap.data of type string')
  })

  it('may be protobuf, with a JSON response', async () => {
    const { status, body } = await post(
      protobufConfigMap('from-protobuf', 'k', 'v'),
      'application/vnd.kubernetes.protobuf',
    )
    expect(status).toBe(201)
    expect(body).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'from-protobuf' }, data: { k: 'v' } })
  })

  it('that is not protobuf as declared is rejected', async () => {
    const { status, body } = await post('{"metadata":{"name":"x"}}', 'application/vnd.kubernetes.protobuf')
    expect(status).toBe(400)
    expect(body.reason).toBe('BadRequest')
  })
})

describe('HTTP/2', () => {
  it('serves many requests on one connection', async () => {
    const { server, ca, cert, key } = api.cluster.connection
    const session = connect(server, { ca, cert, key })
    try {
      const bodies = await Promise.all(
        Array.from({ length: 30 }, async () => {
          const stream = session.request({ ':path': path, accept: 'application/json' })
          let text = ''
          stream.setEncoding('utf8')
          stream.on('data', (chunk: string) => {
            text += chunk
          })
          await once(stream, 'end')
          return JSON.parse(text).kind
        }),
      )
      expect(new Set(bodies)).toEqual(new Set(['ConfigMap']))
      expect(session.alpnProtocol).toBe('h2')
    } finally {
      session.close()
    }
  })
})

/** A ConfigMap with one entry in the protobuf form that clients send. */
function protobufConfigMap(name: string, key: string, value: string): Uint8Array {
  const field = (number: number, content: Uint8Array) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content])
  const text = (number: number, content: string) => field(number, Buffer.from(content))
  const object = Buffer.concat([field(1, text(1, name)), field(2, Buffer.concat([text(1, key), text(2, value)]))])
  const typeMeta = Buffer.concat([text(1, 'v1'), text(2, 'ConfigMap')])
  return Buffer.concat([Buffer.from('k8s\0'), field(1, typeMeta), field(2, object)])
}
