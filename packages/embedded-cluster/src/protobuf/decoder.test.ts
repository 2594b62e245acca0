import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { loadProtobufDecoder } from './decoder.ts'
import { body, bytesField, fixed64Field, messageField, stringField, varintField } from './testing/wire-writer.ts'
import { MalformedProtobuf } from './wire-reader.ts'

const decoder = loadProtobufDecoder()
const named = messageField(1, stringField(1, 'a'))

describe('decoding a body', () => {
  it('returns the JSON that the client would have sent', () => {
    const data = [messageField(2, stringField(1, 'k'), stringField(2, 'v'))]
    const binary = [messageField(3, stringField(1, 'b'), bytesField(2, Uint8Array.of(0, 1)))]
    expect(decoder.decode(body('v1', 'ConfigMap', named, ...data, ...binary, varintField(4, 1)))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { k: 'v' },
      binaryData: { b: 'AAE=' },
      immutable: true,
    })
  })

  it('omits empty plain values and keeps those of pointers', () => {
    const empty = [stringField(2, ''), varintField(7, 0)]
    const metadata = messageField(1, stringField(1, 'a'), ...empty, varintField(10, 0))
    expect(decoder.decode(body('v1', 'ConfigMap', metadata, varintField(4, 0)))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', deletionGracePeriodSeconds: 0 },
      immutable: false,
    })
  })

  it('merges the fields of embedded structs into their parent', () => {
    const emptyDir = messageField(2, messageField(2))
    const volume = messageField(1, stringField(1, 'data'), emptyDir)
    const pod = decoder.decode(body('v1', 'Pod', named, messageField(2, volume)))
    expect(pod.spec).toMatchObject({ volumes: [{ name: 'data', emptyDir: {} }] })
  })

  it('decodes times, int-or-string values, quantities and bytes that contain JSON', () => {
    const lease = messageField(
      2,
      messageField(4, varintField(1, 1_704_164_645), varintField(2, 6_000)),
      messageField(3, varintField(1, 0)),
    )
    expect(decoder.decode(body('coordination.k8s.io/v1', 'Lease', named, lease)).spec).toEqual({
      renewTime: '2024-01-02T03:04:05.000006Z',
      acquireTime: '1970-01-01T00:00:00.000000Z',
    })
    const ports = [
      messageField(1, varintField(3, 80), messageField(4, varintField(1, 0), varintField(2, 8080))),
      messageField(1, varintField(3, 81), messageField(4, varintField(1, 1), stringField(3, 'http'))),
    ]
    expect(decoder.decode(body('v1', 'Service', named, messageField(2, ...ports))).spec).toEqual({
      ports: [
        { port: 80, targetPort: 8080 },
        { port: 81, targetPort: 'http' },
      ],
    })
    const hard = messageField(1, stringField(1, 'cpu'), messageField(2, stringField(1, '0.5')))
    expect(decoder.decode(body('v1', 'ResourceQuota', named, messageField(2, hard))).spec).toEqual({
      hard: { cpu: '500m' },
    })
    const revision = messageField(2, bytesField(1, Buffer.from('{"spec":{"a":null}}')))
    expect(decoder.decode(body('apps/v1', 'ControllerRevision', named, revision, varintField(3, -1)))).toMatchObject({
      data: { spec: { a: null } },
      revision: -1,
    })
  })

  it('decodes options, reviews, lists and subresource objects', () => {
    const options = [varintField(1, 0), messageField(2, stringField(1, 'u')), stringField(4, 'Background')]
    expect(decoder.decode(body('v1', 'DeleteOptions', ...options))).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
      propagationPolicy: 'Background',
    })
    const scale = decoder.decode(body('autoscaling/v1', 'Scale', named, messageField(2, varintField(1, 3))))
    expect(scale.spec).toEqual({ replicas: 3 })
    expect(decoder.decode(body('policy/v1', 'Eviction', named)).metadata).toEqual({ name: 'a' })
    const token = decoder.decode(
      body('authentication.k8s.io/v1', 'TokenRequest', messageField(2, stringField(1, 'me'), varintField(4, 600))),
    )
    expect(token.spec).toEqual({ audiences: ['me'], expirationSeconds: 600, boundObjectRef: null })
    const extra = messageField(5, stringField(1, 'scopes'), messageField(2, stringField(1, 'a'), stringField(1, 'b')))
    const review = decoder.decode(body('authorization.k8s.io/v1', 'SubjectAccessReview', messageField(2, extra)))
    expect(review.spec).toEqual({ extra: { scopes: ['a', 'b'] } })
    const list = decoder.decode(body('v1', 'ConfigMapList', messageField(1), messageField(2, named)))
    expect(list.items).toEqual([{ metadata: { name: 'a' } }])
  })

  it('reads objects inside of a List, as protobuf and as JSON', () => {
    const json = messageField(2, bytesField(1, Buffer.from('{"kind":"A"}')))
    const nested = messageField(2, bytesField(1, body('v1', 'ConfigMap', named)))
    expect(decoder.decode(body('v1', 'List', messageField(1), json, nested)).items).toEqual([
      { kind: 'A' },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    ])
  })

  it('merges a struct that is split into pieces and skips unknown fields', () => {
    const pieces = [messageField(1, stringField(1, 'a')), messageField(1, stringField(3, 'n'))]
    const unknown = [varintField(900, 1), stringField(901, 'x'), fixed64Field(902, 1)]
    expect(decoder.decode(body('v1', 'ConfigMap', ...pieces, ...unknown)).metadata).toEqual({
      name: 'a',
      namespace: 'n',
    })
  })

  it('treats a key such as __proto__ as a plain key', () => {
    const entry = messageField(2, stringField(1, '__proto__'), stringField(2, 'v'))
    const { data } = decoder.decode(body('v1', 'ConfigMap', named, entry))
    expect(Object.entries(data as JsonObject)).toEqual([['__proto__', 'v']])
  })
})

describe('rejecting a body', () => {
  const configMap = (...fields: Uint8Array[]) => body('v1', 'ConfigMap', ...fields)
  const inConfigMap = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '

  it.each([
    [
      'nothing',
      new Uint8Array(),
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    ],
    [
      'JSON',
      Buffer.from('{}'),
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    ],
    ['a truncated envelope', Uint8Array.of(0x6b, 0x38, 0x73, 0, 0x0a, 5), 'unexpected EOF'],
    ['an unknown kind', body('v1', 'Foo'), 'no kind "Foo" is registered for version "v1"'],
    ['an unknown group', body('example.com/v1', 'Foo'), 'no kind "Foo" is registered for version "example.com/v1"'],
    ['a group named like a built-in property of objects', body('constructor', 'Foo'), 'no kind "Foo" is registered'],
    ['a truncated field', configMap(Uint8Array.of(0x0a, 0x7f)), `${inConfigMap}unexpected EOF`],
    ['an endless number', configMap(new Uint8Array(11).fill(0xff)), `${inConfigMap}proto: integer overflow`],
    [
      'a number for a struct',
      configMap(varintField(1, 1)),
      `${inConfigMap}proto: wrong wireType = 0 for field metadata`,
    ],
    ['field number zero', configMap(Uint8Array.of(0x02, 0)), `${inConfigMap}proto: illegal tag 0 (wire type 2)`],
    ['an unknown wire type', configMap(Uint8Array.of(0xff, 0x01)), `${inConfigMap}proto: illegal wireType 7`],
    [
      'bytes that are not JSON',
      body('apps/v1', 'ControllerRevision', messageField(2, bytesField(1, Buffer.from('{')))),
      'neither JSON nor protobuf',
    ],
    [
      'an invalid quantity',
      body(
        'v1',
        'ResourceQuota',
        messageField(2, messageField(1, stringField(1, 'a'), messageField(2, stringField(1, 'x')))),
      ),
      'quantities must match',
    ],
    [
      'an invalid time',
      body('coordination.k8s.io/v1', 'Lease', messageField(2, messageField(4, varintField(1, 1e15)))),
      'out of range',
    ],
  ])('with %s', (_, bytes, message) => {
    expect(() => decoder.decode(bytes)).toThrow(MalformedProtobuf)
    expect(() => decoder.decode(bytes)).toThrow(message)
  })

  it('that is nested too deeply', () => {
    let schema: Uint8Array = messageField(1, stringField(1, 'x'))
    for (let depth = 0; depth < 2_000; depth += 1) schema = messageField(22, messageField(1, schema))
    const version = messageField(7, messageField(4, messageField(1, schema)))
    const bytes = body('apiextensions.k8s.io/v1', 'CustomResourceDefinition', messageField(2, version))
    expect(() => decoder.decode(bytes)).toThrow(MalformedProtobuf)
  })

  it('that would exhaust the memory', () => {
    const containers = new Uint8Array(1_200_000)
    for (let index = 0; index < containers.length; index += 2) containers[index] = (2 << 3) | 2
    expect(() => decoder.decode(body('v1', 'Pod', bytesField(2, containers)))).toThrow('too many values')
  })
})

describe('any input', () => {
  const decodes = (bytes: Uint8Array) => {
    try {
      return typeof decoder.decode(bytes)
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedProtobuf)
      return 'refused'
    }
  }

  it('is decoded or rejected', () => {
    const kinds = fc.constantFrom('Pod', 'Service', 'Secret', 'Event', 'DeleteOptions', 'List', 'Node')
    fc.assert(
      fc.property(kinds, fc.uint8Array({ maxLength: 200 }), (kind, raw) => {
        decodes(body('v1', kind, raw))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is decoded or rejected when a valid body is corrupted', () => {
    const good = body(
      'apps/v1',
      'Deployment',
      messageField(1, stringField(1, 'web'), messageField(11, stringField(1, 'a'), stringField(2, 'b'))),
      messageField(
        2,
        varintField(1, 3),
        messageField(2, messageField(1, stringField(1, 'a'), stringField(2, 'b'))),
        messageField(3, messageField(2, messageField(2, stringField(1, 'main'), stringField(2, 'nginx')))),
      ),
    )
    const damage = fc.record({ at: fc.nat({ max: good.length - 1 }), byte: fc.nat({ max: 255 }) })
    fc.assert(
      fc.property(fc.array(damage, { maxLength: 4 }), fc.nat({ max: good.length }), (damages, length) => {
        const damaged = Uint8Array.from(good)
        for (const { at, byte } of damages) damaged[at] = byte
        decodes(damaged.subarray(0, length))
      }),
      { numRuns: 2_000 },
    )
  })
})
