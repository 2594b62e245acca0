import { type StructuralSchema, validate } from '@reeve/crd'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryFor } from './arbitrary-for.ts'
import { narrowed } from './narrowed.ts'

const text: StructuralSchema = { type: 'string' }
const schema: StructuralSchema = {
  type: 'object',
  required: ['url', 'size'],
  properties: {
    url: text,
    size: { type: 'integer', minimum: 1 },
    gateway: {
      type: 'object',
      properties: { image: text, limits: { type: 'object', properties: { cpu: text, memory: text } } },
    },
  },
}

test('only the given fields are left, with all that is below them', () => {
  expect(narrowed(schema, ['size', 'gateway.limits'])).toEqual({
    type: 'object',
    required: ['size'],
    properties: {
      size: { type: 'integer', minimum: 1 },
      gateway: {
        type: 'object',
        properties: { limits: { type: 'object', properties: { cpu: text, memory: text } } },
      },
    },
  })
})

test('with what is required put back, values of the narrow schema are values of the whole one', () => {
  const values = arbitraryFor(narrowed(schema, ['size', 'gateway.limits.cpu']))
  fc.assert(fc.property(values, (value) => validate(schema, { ...Object(value), url: 'a' }).length === 0))
})

test('a field that does not exist is a mistake', () => {
  expect(() => narrowed(schema, ['gateway.replicas'])).toThrow('the schema has no field gateway.replicas')
})
