import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isProtobuf, nameInProtobuf } from './protobuf-name.ts'

/** A field with a length. */
function field(number: number, content: Uint8Array): Uint8Array {
  const size: number[] = []
  let rest = content.length
  for (; rest > 127; rest >>= 7) size.push((rest & 0x7f) | 0x80)
  return Buffer.from([(number << 3) | 2, ...size, rest, ...content])
}

const text = (value: string) => Buffer.from(value)
const message = (name: string) => {
  const metadata = Buffer.concat([field(1, text(name)), field(3, text('default'))])
  const object = Buffer.concat([field(1, metadata), field(2, text('spec'))])
  const type = Buffer.concat([field(1, text('v1')), field(2, text('Service'))])
  return Buffer.concat([text('k8s\0'), field(1, type), field(2, object), field(3, text(''))])
}

it('protobufName finds the name of an object that a client in Go creates', () => {
  const body = message('shop')
  expect(isProtobuf(body)).toBe(true)
  expect(nameInProtobuf(body)).toBe('shop')
  expect(nameInProtobuf(message('a'.repeat(200)))).toBe('a'.repeat(200))
  expect(isProtobuf(text('{"metadata":{"name":"shop"}}'))).toBe(false)
})

it('protobufName finds no name in an object whose name the server generates', () => {
  expect(nameInProtobuf(message(''))).toBeUndefined()
})

it('reading the name of a protobuf object never fails on damaged bodies', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      nameInProtobuf(Buffer.concat([text('k8s\0'), bytes]))
    }),
  )
})
