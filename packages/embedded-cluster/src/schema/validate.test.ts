import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../json.ts'
import { applyDefaults } from './default.ts'
import { prune } from './prune.ts'
import type { Schema } from './schema.ts'
import { validateSchema } from './validate.ts'

interface Golden {
  fields: Record<string, Schema>
  cases: { field: string; value: JsonValue; errors?: [string, string, string][]; stored?: JsonObject }[]
}

// Responses of a real API server to objects with one field set.
const golden: Golden = JSON.parse(readFileSync(new URL('golden/validation.json', import.meta.url), 'utf8'))

function specSchema(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties: { spec: { type: 'object', properties } } }
}

function errorsOf(schema: Schema, object: JsonObject, old?: JsonObject): string[] {
  return validateSchema(schema, object, { old }).map(({ field, message }) => `${field}: ${message}`)
}

describe('validation as on a real API server', () => {
  const schema = specSchema(golden.fields)
  for (const { field, value, errors, stored } of golden.cases) {
    it(`${errors === undefined ? 'accepts' : 'rejects'} ${JSON.stringify(value)} for ${field}`, () => {
      const { object } = prune(schema, { spec: { [field]: value } })
      const defaulted = applyDefaults(schema, object)
      const found = validateSchema(schema, defaulted).map(({ reason, field, message }) => [reason, field, message])
      expect(found).toEqual(errors ?? [])
      if (stored !== undefined) expect(defaulted.spec).toEqual(stored)
    })
  }
})

describe('ratcheting', () => {
  const schema = specSchema({
    size: { type: 'integer', maximum: 5 },
    other: { type: 'string' },
    nested: {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'string', minLength: 3 } },
    },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' }, port: { type: 'integer', minimum: 1 } } },
    },
    list: { type: 'array', items: { type: 'string', minLength: 3 } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
  })

  it('accepts an invalid value that the update does not change', () => {
    expect(errorsOf(schema, { spec: { size: 9, other: 'new' } }, { spec: { size: 9, other: 'old' } })).toEqual([])
  })

  it('reports an invalid value that the update changes', () => {
    expect(errorsOf(schema, { spec: { size: 8 } }, { spec: { size: 9 } })).toEqual([
      'spec.size: Invalid value: 8: spec.size in body should be less than or equal to 5',
    ])
  })

  it('reports missing fields of a changed object, but not its unchanged fields', () => {
    const old = { spec: { nested: { b: 'x' } } }
    expect(errorsOf(schema, { spec: { nested: { b: 'x', c: 'y' } } }, old)).toEqual(['spec.nested.a: Required value'])
  })

  it('compares items of keyed lists by key, wherever they have moved', () => {
    const old = { spec: { ports: [{ name: 'a', port: 0 }] } }
    const moved = {
      spec: {
        ports: [
          { name: 'b', port: 7 },
          { name: 'a', port: 0 },
        ],
      },
    }
    expect(errorsOf(schema, moved, old)).toEqual([])
    expect(errorsOf(schema, { spec: { ports: [{ name: 'c', port: 0 }] } }, old)).toHaveLength(1)
  })

  it('does not match items of other lists', () => {
    expect(errorsOf(schema, { spec: { list: ['x', 'long'] } }, { spec: { list: ['x'] } })).toHaveLength(1)
  })

  it('tolerates duplicates only if the stored object already has some', () => {
    const twice = { spec: { set: ['a', 'a'] } }
    expect(errorsOf(schema, { spec: { set: ['a', 'a', 'b'] } }, twice)).toEqual([])
    expect(errorsOf(schema, twice, { spec: { set: ['a'] } })).toEqual(['spec.set[1]: Duplicate value: "a"'])
  })
})

describe('hostile names', () => {
  it('does not treat inherited properties as declared fields', () => {
    const schema: Schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
    expect(errorsOf(schema, { constructor: 'x', toString: 1 } as unknown as JsonObject)).toEqual([])
    expect(errorsOf({ type: 'object', required: ['constructor'] }, {})).toEqual(['constructor: Required value'])
  })

  it('matches patterns in linear time', () => {
    const schema = specSchema({ text: { type: 'string', pattern: '^(a+)+$' } })
    expect(errorsOf(schema, { spec: { text: `${'a'.repeat(5000)}!` } })).toHaveLength(1)
  })

  it('treats a pattern that RE2 cannot compile as never matching', () => {
    expect(errorsOf(specSchema({ text: { type: 'string', pattern: '(?=a)' } }), { spec: { text: 'a' } })).toHaveLength(
      1,
    )
  })
})
