import { describe, expect, it } from 'vitest'
import { prune } from './prune.ts'
import type { Schema } from './schema.ts'

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        known: { type: 'string' },
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
        free: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { typed: { type: 'object', properties: { a: { type: 'string' } } } },
        },
        embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { data: { type: 'string' } } },
      },
    },
  },
}

const meta = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } }

describe('prune', () => {
  it('returns the same object when every field is declared', () => {
    const object = Object.freeze({ ...meta, spec: { known: 'x', list: [{ a: 'b' }] } })
    expect(prune(schema, object)).toEqual({ object, unknown: [] })
    expect(prune(schema, object).object).toBe(object)
  })

  it('drops undeclared fields and reports their paths', () => {
    const object = {
      ...meta,
      spec: { known: 'x', extra: 1, list: [{ a: 'b' }, { c: 'd' }], map: { k: { z: 1 } } },
      top: 1,
    }
    expect(prune(schema, object)).toEqual({
      object: { ...meta, spec: { known: 'x', list: [{ a: 'b' }, {}], map: { k: {} } } },
      unknown: ['spec.extra', 'spec.list[1].c', 'spec.map.k.z', 'top'],
    })
  })

  it('keeps everything under preserve-unknown-fields, except below declared fields', () => {
    const object = { ...meta, spec: { free: { x: { y: 1 }, typed: { a: 'b', c: 'd' } } } }
    const { object: pruned, unknown } = prune(schema, object)
    expect(pruned.spec).toEqual({ free: { x: { y: 1 }, typed: { a: 'b' } } })
    expect(unknown).toEqual(['spec.free.typed.c'])
  })

  it('keeps the fields that every object has, also in embedded resources', () => {
    const object = { ...meta, spec: { embedded: { ...meta, data: 'x', other: 1 } } }
    expect(prune(schema, object).unknown).toEqual(['spec.embedded.other'])
  })

  it('drops fields that ObjectMeta does not have, including those of owner references', () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u', bar: 1 }]
    const object = { ...meta, metadata: { name: 'a', foo: 1, ownerReferences } }
    expect(prune(schema, object).unknown).toEqual(['metadata.foo', 'metadata.ownerReferences[0].bar'])
  })

  it('does not change values of the wrong type, which validation rejects', () => {
    const object = { ...meta, spec: { list: 'not a list', map: [1] } }
    expect(prune(schema, object).object).toBe(object)
  })

  it('prunes a field called __proto__ like any other', () => {
    const object = JSON.parse('{"metadata":{"name":"a"},"spec":{"__proto__":{"known":"x"},"known":"y"}}')
    const { object: pruned, unknown } = prune(schema, object)
    expect(unknown).toEqual(['spec.__proto__'])
    expect(pruned.spec).toEqual({ known: 'y' })
  })
})
