import {
  defineCrd,
  listMap,
  objectSchema,
  oneOf,
  openObject,
  quantity,
  type StructuralSchema,
  validate,
} from '@reeve/crd'
import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { arbitraryFor } from './arbitrary-for.ts'
import {
  addedValues,
  changedValues,
  deeplyAddedValues,
  emptiedValues,
  removablePaths,
  without,
} from './changed-values.ts'

const crd = defineCrd({
  group: 'example.com',
  kind: 'Thing',
  plural: 'things',
  scope: 'Namespaced',
  versions: {
    v1: {
      spec: Type.Object({
        image: Type.String({ minLength: 1, maxLength: 5 }),
        replicas: Type.Integer({ minimum: 2, maximum: 1_000, default: 2 }),
        tone: Type.Optional(oneOf(['Quiet', 'Loud'])),
        host: Type.Optional(Type.String({ pattern: '^[a-z]{2,4}$' })),
        limits: Type.Optional(Type.Record(Type.String(), quantity())),
        env: Type.Optional(listMap(Type.Object({ name: Type.String({ minLength: 1 }) }), ['name'])),
        free: Type.Optional(openObject()),
      }),
    },
  },
})
const schema = objectSchema(crd, 'v1').properties?.spec ?? {}

describe('arbitraryFor', () => {
  it('makes nothing that the schema refuses', () => {
    fc.assert(
      fc.property(arbitraryFor(schema), (value) => {
        expect(validate(schema, value)).toEqual([])
      }),
    )
  })

  it('keeps numbers small, uses every word of an enum and every optional field', () => {
    const values = fc.sample(arbitraryFor(schema), { numRuns: 300, seed: 1 }) as readonly Record<string, unknown>[]
    expect(new Set(values.map(({ tone }) => tone))).toEqual(new Set([undefined, 'Quiet', 'Loud']))
    expect(values.every(({ replicas = 2 }) => Number(replicas) >= 2 && Number(replicas) <= 8)).toBe(true)
    for (const field of ['host', 'limits', 'env', 'free']) expect(values.some((value) => field in value)).toBe(true)
  })

  it('never repeats the key of a list with keys', () => {
    fc.assert(
      fc.property(arbitraryFor(schema), (value) => {
        const names = ((value as { env?: readonly { name: string }[] }).env ?? []).map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
      }),
    )
  })

  it('shrinks to the smallest value that still fails', () => {
    const found = fc.check(
      fc.property(arbitraryFor(schema), (value) => (value as { env?: readonly unknown[] }).env === undefined),
      { seed: 3 },
    )
    const [smallest] = found.counterexample ?? []
    expect(smallest).toMatchObject({ env: [] })
    expect(smallest).not.toHaveProperty('limits')
  })
})

describe('removablePaths', () => {
  const full = { image: 'a', replicas: 2, env: [{ name: 'A' }], limits: { cpu: 1, memory: '1Gi' } }

  it('names optional fields, keys of maps and items of lists, never what is required', () => {
    expect(removablePaths(schema, full)).toEqual([
      ['replicas'],
      ['env'],
      ['env', 0],
      ['limits'],
      ['limits', 'cpu'],
      ['limits', 'memory'],
    ])
  })

  it('without keeps the rest', () => {
    expect(without(full, ['limits', 'cpu'])).toEqual({ ...full, limits: { memory: '1Gi' } })
    expect(without(full, ['env', 0])).toEqual({ ...full, env: [] })
    expect(full.limits.cpu).toBe(1)
  })
})

describe('changedValues', () => {
  it('replaces one value at a time by another that the schema accepts', () => {
    const full = { image: 'a', replicas: 2, tone: 'Quiet', env: [{ name: 'A' }] }
    const changed = changedValues(schema, full, 1)
    expect(changed.map(({ path }) => path)).toEqual([['image'], ['replicas'], ['tone'], ['env', 0, 'name']])
    for (const { value } of changed) {
      expect(validate(schema, value)).toEqual([])
      expect(value).not.toEqual(full)
    }
    expect(changed[2]?.value).toEqual({ ...full, tone: 'Loud' })
  })
})

describe('emptiedValues', () => {
  it('empties one field at a time where the schema accepts that, also one that is absent', () => {
    const full = { image: 'a', replicas: 2, env: [{ name: 'A' }] }
    expect(emptiedValues(schema, full)).toEqual([
      { path: ['limits'], value: { ...full, limits: {} } },
      { path: ['env'], value: { ...full, env: [] } },
      { path: ['free'], value: { ...full, free: {} } },
    ])
  })
})

describe('addedValues', () => {
  it('adds one absent field at a time, and not an empty one', () => {
    const small = { image: 'a', replicas: 2 }
    const added = addedValues(schema, small, 1)
    expect(added.map(({ path }) => path.join('.'))).toEqual(['tone', 'host', 'limits', 'env', 'free'])
    expect(added.find(({ path }) => path[0] === 'env')?.value).toMatchObject({
      ...small,
      env: expect.arrayContaining([{ name: expect.any(String) }]),
    })
  })
})

describe('deeplyAddedValues', () => {
  it('adds each field below an absent object, with what is required beside it', () => {
    const port = { type: 'integer', minimum: 1 } as const
    const probe: StructuralSchema = {
      type: 'object',
      required: ['port'],
      properties: { port, path: { type: 'string', minLength: 1 }, tls: { type: 'object', properties: { port } } },
    }
    const values = deeplyAddedValues({ type: 'object', properties: { probe } }, {}, 1)
    expect(values).toEqual([
      { path: ['probe', 'path'], value: { probe: { port: expect.any(Number), path: expect.any(String) } } },
      { path: ['probe', 'tls'], value: { probe: { port: expect.any(Number), tls: { port: expect.any(Number) } } } },
      {
        path: ['probe', 'tls', 'port'],
        value: { probe: { port: expect.any(Number), tls: { port: expect.any(Number) } } },
      },
    ])
  })
})
