import { describe, expect, it } from 'vitest'
import { applyDefaults } from './default.ts'
import type { Schema } from './schema.ts'

function withSpec(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties: { spec: { type: 'object', properties } } }
}

const schema = withSpec({
  size: { type: 'integer', default: 3 },
  image: { type: 'string' },
  maybe: { type: 'string', default: 'x', nullable: true },
  nested: { type: 'object', default: {}, properties: { a: { type: 'string', default: 'b' } } },
  optional: { type: 'object', properties: { a: { type: 'string', default: 'b' } } },
  ports: { type: 'array', items: { type: 'object', properties: { protocol: { type: 'string', default: 'TCP' } } } },
  map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'integer', default: 1 } } } },
})

describe('applyDefaults', () => {
  it('sets absent fields, also inside defaults, list items and map entries', () => {
    expect(applyDefaults(schema, { spec: { ports: [{}, { protocol: 'UDP' }], map: { k: {} } } })).toEqual({
      spec: {
        size: 3,
        maybe: 'x',
        nested: { a: 'b' },
        ports: [{ protocol: 'TCP' }, { protocol: 'UDP' }],
        map: { k: { a: 1 } },
      },
    })
  })

  it('does not create objects only to set defaults in them', () => {
    expect(applyDefaults(schema, {})).toEqual({})
    expect(applyDefaults(schema, { spec: {} }).spec).not.toHaveProperty('optional')
  })

  it('treats a null that is not allowed as absent', () => {
    expect(applyDefaults(schema, { spec: { size: null, image: null, maybe: null } }).spec).toEqual({
      size: 3,
      maybe: null,
      nested: { a: 'b' },
    })
  })

  it('keeps a null without a default for validation when requested', () => {
    const spec = applyDefaults(schema, { spec: { size: null, image: null } }, { keepNulls: true }).spec
    expect(spec).toMatchObject({ size: 3, image: null })
  })

  it('does not modify its input and returns it when there is nothing to do', () => {
    const complete = Object.freeze({ spec: Object.freeze({ size: 1, maybe: 'y', nested: { a: 'c' } }) })
    expect(applyDefaults(schema, complete)).toBe(complete)
    const frozen = Object.freeze({ spec: Object.freeze({}) })
    expect(applyDefaults(schema, frozen)).not.toBe(frozen)
  })

  it('is idempotent', () => {
    const once = applyDefaults(schema, { spec: { ports: [{}] } })
    expect(applyDefaults(schema, once)).toBe(once)
  })
})
