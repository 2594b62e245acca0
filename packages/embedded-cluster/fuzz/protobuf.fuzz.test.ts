/** Fuzzes the decoder of protobuf bodies. */
import { attempt, fuzz, sameJson } from '@reeve/fuzz'
import fc, { type Arbitrary } from 'fast-check'
import { loadProtobufDecoder } from '../src/protobuf/decoder.ts'
import {
  body,
  bytesField,
  fixed64Field,
  messageField,
  stringField,
  varintField,
} from '../src/protobuf/testing/wire-writer.ts'
import { MalformedProtobuf } from '../src/protobuf/wire-reader.ts'

const number = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 ** 28 }) },
)
const text = fc.oneof(fc.string({ maxLength: 10 }), fc.constantFrom('__proto__', '{"a":1}', '1Gi', 'k8s\0', '\ud800'))

/** Fields of a message whose type is not known here: some of the numbers match, some do not. */
const fields: Arbitrary<Uint8Array> = fc.letrec<{ field: Uint8Array; fields: Uint8Array }>((tie) => ({
  field: fc.oneof(
    { depthSize: 'medium' },
    fc.tuple(number, fc.maxSafeInteger()).map(([at, value]) => varintField(at, value)),
    fc.tuple(number, text).map(([at, value]) => stringField(at, value)),
    fc.tuple(number, fc.uint8Array({ maxLength: 8 })).map(([at, value]) => bytesField(at, value)),
    fc.tuple(number, fc.double()).map(([at, value]) => fixed64Field(at, value)),
    fc.tuple(number, tie('fields')).map(([at, value]) => bytesField(at, value)),
  ),
  fields: fc.array(tie('field'), { maxLength: 5 }).map((parts) => Buffer.concat(parts)),
})).fields

const kinds = [
  ['v1', 'Pod'],
  ['v1', 'ConfigMap'],
  ['v1', 'Secret'],
  ['v1', 'Event'],
  ['v1', 'List'],
  ['v1', 'DeleteOptions'],
  ['apps/v1', 'Deployment'],
  ['batch/v1', 'Job'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['coordination.k8s.io/v1', 'Lease'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
  ['v1', '__proto__'],
  ['__proto__', 'Pod'],
] as const

const named = messageField(1, stringField(1, 'web'), stringField(3, 'default'), messageField(11, stringField(1, 'app')))
const decoder = loadProtobufDecoder()

fuzz('protobuf', {
  inputs: fc
    .tuple(fc.constantFrom(...kinds), fc.array(fields, { maxLength: 4 }))
    .map(([[apiVersion, kind], parts]) => body(apiVersion, kind, ...parts)),
  seeds: [
    body('v1', 'Secret', named, messageField(2, stringField(1, 'a'), bytesField(2, Buffer.from('b')))),
    body('v1', 'Pod', named, messageField(2, messageField(2, stringField(1, 'c'), stringField(2, 'nginx')))),
    body('v1', 'Event', named, messageField(7, varintField(1, 1_700_000_000), varintField(2, 5))),
    body('coordination.k8s.io/v1', 'Lease', named, messageField(2, messageField(3, varintField(1, 5)))),
    // A List contains its items as raw values, which may be bodies themselves.
    body('v1', 'List', messageField(2, messageField(1, body('v1', 'ConfigMap', named)))),
  ],
  dictionary: [
    'k8s\0',
    'v1',
    'Pod',
    'apps/v1',
    'Deployment',
    'List',
    '\x0a',
    '\x12',
    '\xff\xff\xff\xff\x0f',
    '\x0b',
    '\x0c',
  ],
  run(input) {
    const decoded = attempt(() => decoder.decode(input), MalformedProtobuf)
    if (decoded === undefined) return
    const { value } = decoded
    sameJson('a decoded body is JSON', JSON.parse(JSON.stringify(value)), value)
  },
})
