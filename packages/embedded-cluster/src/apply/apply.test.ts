import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject } from '../json.ts'
import { loadBuiltinSchemas } from '../schema/definitions.ts'
import type { Schema } from '../schema/schema.ts'
import { StatusError } from '../status-error.ts'
import { serverSideApply } from './apply.ts'
import { differenceOf, equalFieldSets, type FieldSet, isEmptyFieldSet, pathsOf } from './field-set.ts'
import { decodeManagedFields, managedFieldsOf } from './managed-fields.ts'
import { describePath } from './path-element.ts'
import { trackUpdate } from './track.ts'

const apiVersion = 'example.com/v1'
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        struct: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
        map: { type: 'object', additionalProperties: { type: 'string' } },
        list: { type: 'array', items: { type: 'string' } },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'protocol'],
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              protocol: { type: 'string', default: 'TCP' },
              value: { type: 'string' },
            },
          },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
}

function thing(spec?: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion, kind: 'Thing', metadata: { name: 'a', ...metadata }, ...(spec === undefined ? {} : { spec }) }
}

interface Applying {
  force?: boolean
  now?: number
}

function apply(live: JsonObject | undefined, manager: string, applied: JsonObject, options: Applying = {}): JsonObject {
  return serverSideApply({
    schema,
    apiVersion,
    live,
    applied,
    manager,
    force: options.force ?? false,
    now: options.now ?? 0,
  })
}

function ownedBy(object: JsonObject, manager: string): FieldSet {
  const entry = [...decodeManagedFields(managedFieldsOf(object)).values()].find((one) => one.manager === manager)
  if (entry === undefined) throw new Error(`${manager} owns nothing`)
  return entry.fields
}

function managersOf(object: JsonObject): string[] {
  return [...decodeManagedFields(managedFieldsOf(object)).values()].map(({ manager }) => manager)
}

const short = fc.constantFrom('a', 'b', 'c')
const specArbitrary: fc.Arbitrary<JsonObject> = fc.record(
  {
    text: short,
    struct: fc.record({ a: short, b: fc.nat(3) }, { requiredKeys: [] }),
    atomic: fc.dictionary(short, short),
    map: fc.dictionary(short, short),
    list: fc.array(short, { maxLength: 3 }),
    set: fc.uniqueArray(short),
    items: fc.uniqueArray(fc.record({ name: short, value: short }, { requiredKeys: ['name'] }), {
      selector: ({ name }) => name,
    }),
    free: fc.dictionary(short, fc.oneof(short, fc.dictionary(short, short), fc.array(short))),
  },
  { requiredKeys: [] },
)

describe('properties of server-side apply', () => {
  it('is idempotent: a repeated apply returns the very same object', () => {
    fc.assert(
      fc.property(specArbitrary, specArbitrary, (first, second) => {
        const live = apply(apply(undefined, 'x', thing(first)), 'y', thing(second), { force: true })
        const once = apply(live, 'y', thing(second), { now: 60_000 })
        expect(once).toBe(live)
      }),
    )
  })

  it('transfers every conflicting field to the manager that forces, and to no other', () => {
    fc.assert(
      fc.property(specArbitrary, specArbitrary, (first, second) => {
        const live = apply(undefined, 'x', thing(first))
        const disputed = disputedFields(() => apply(live, 'y', thing(second)))
        const forced = apply(live, 'y', thing(second), { force: true })
        for (const field of disputed) {
          expect(describedFields(forced, 'x')).not.toContain(field)
          expect(describedFields(forced, 'y')).toContain(field)
        }
        expect(disputedFields(() => apply(forced, 'y', thing(second)))).toEqual([])
      }),
    )
  })

  it('removes exactly the fields a manager no longer applies', () => {
    fc.assert(
      fc.property(specArbitrary, specArbitrary, (first, second) => {
        const created = apply(undefined, 'x', thing(first))
        const changed = apply(created, 'x', thing(second))
        const fresh = apply(undefined, 'x', thing(second))
        expect(withoutNulls(changed.spec ?? {})).toEqual(withoutNulls(fresh.spec ?? {}))
        if (managersOf(fresh).length > 0) {
          expect(equalFieldSets(ownedBy(changed, 'x'), ownedBy(fresh, 'x'))).toBe(true)
        }
      }),
    )
  })

  it('never removes fields that another manager applies', () => {
    fc.assert(
      fc.property(specArbitrary, specArbitrary, (mine, theirs) => {
        const both = apply(apply(undefined, 'theirs', thing(theirs)), 'mine', thing(mine), { force: true })
        const kept = managersOf(both).includes('theirs') ? ownedBy(both, 'theirs') : undefined
        const left = apply(both, 'mine', thing({}))
        if (kept !== undefined) expect(isEmptyFieldSet(differenceOf(kept, ownedBy(left, 'theirs')))).toBe(true)
      }),
    )
  })

  it('does not modify its inputs', () => {
    fc.assert(
      fc.property(specArbitrary, specArbitrary, (first, second) => {
        const live = deepFreeze(apply(undefined, 'x', deepFreeze(thing(first))))
        apply(live, 'y', deepFreeze(thing(second)), { force: true })
        trackUpdate({ schema, apiVersion, live, updated: deepFreeze(thing(second)), manager: 'z', now: 0 })
      }),
    )
  })
})

function disputedFields(attempt: () => JsonObject): string[] {
  try {
    attempt()
    return []
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 409) throw error
    return (error.details?.causes ?? []).map(({ field = '' }) => field)
  }
}

function describedFields(object: JsonObject, manager: string): string[] {
  return managersOf(object).includes(manager) ? [...pathsOf(ownedBy(object, manager))].map(describePath) : []
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null && !(typeof field === 'object' && Object.keys(field).length === 0))
      .map(([name, field]) => [name, withoutNulls(field)]),
  )
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) deepFreeze(child)
    Object.freeze(value)
  }
  return value
}

describe('conflicts', () => {
  it('name the field and its owner', () => {
    const live = apply(undefined, 'one', thing({ text: 'a' }))
    expect(() => apply(live, 'two', thing({ text: 'b' }))).toThrow(
      expect.objectContaining({
        code: 409,
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "one": .spec.text',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.text' }] },
      }),
    )
  })

  it('list every field of every owner, updaters with their version and subresource', () => {
    const created = apply(undefined, 'one', thing({ map: { a: '1' }, items: [{ name: 'x', value: '1' }] }))
    const live = trackUpdate({
      schema,
      apiVersion,
      live: created,
      updated: { ...created, spec: { ...(created.spec as JsonObject), text: 'u' } },
      manager: 'editor',
      subresource: 'scale',
      now: 0,
    })
    expect(() => apply(live, 'two', thing({ text: 'b', map: { a: '2' }, items: [{ name: 'x', value: '2' }] }))).toThrow(
      'Apply failed with 3 conflicts: conflicts with "editor" with subresource "scale" using example.com/v1:\n- .spec.text\n' +
        'conflicts with "one":\n- .spec.items[name="x",protocol="TCP"].value\n- .spec.map.a',
    )
  })

  it('do not occur when both apply the same value', () => {
    const live = apply(undefined, 'one', thing({ text: 'a' }))
    expect(managersOf(apply(live, 'two', thing({ text: 'a' })))).toEqual(['two', 'one'])
  })
})

describe('lists', () => {
  it('keep items of other managers and use the order of the applied items', () => {
    const live = apply(undefined, 'one', thing({ set: ['x', 'a', 'y', 'b'] }))
    const next = apply(live, 'two', thing({ set: ['b', 'n', 'a'] }))
    expect((next.spec as JsonObject).set).toEqual(['x', 'y', 'b', 'n', 'a'])
  })

  it('match items by key, with defaults applied', () => {
    const live = apply(undefined, 'one', thing({ items: [{ name: 'x', protocol: 'TCP', value: '1' }] }))
    const next = apply(live, 'one', thing({ items: [{ name: 'x', value: '2' }] }))
    expect((next.spec as JsonObject).items).toEqual([{ name: 'x', value: '2' }])
  })

  it('may not contain an item twice', () => {
    const twice = thing({ items: [{ name: 'x' }, { name: 'x', protocol: 'TCP' }] })
    expect(() => apply(undefined, 'one', twice)).toThrow(
      expect.objectContaining({
        code: 500,
        message:
          'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.items: duplicate entries for key [name="x",protocol="TCP"]',
      }),
    )
  })

  it('keep live duplicates of an item that no manager owns', () => {
    const live = trackUpdate({
      schema,
      apiVersion,
      live: undefined,
      updated: thing({ set: ['a', 'a'] }),
      manager: 'm',
      now: 0,
    })
    expect((apply(live, 'x', thing({ set: ['b'] })).spec as JsonObject).set).toEqual(['a', 'a', 'b'])
  })
})

describe('requests that cannot be merged', () => {
  it('are rejected when a field is not in the schema', () => {
    expect(() => apply(undefined, 'm', thing({ unknown: 1 }))).toThrow(
      /failed to create typed patch object .*: \.spec\.unknown: field not declared in schema/,
    )
  })

  it('are rejected when they contain managedFields or another version', () => {
    const badRequest = expect.objectContaining({ code: 400, reason: 'BadRequest' })
    expect(() => apply(undefined, 'm', thing({}, { managedFields: [] }))).toThrow(badRequest)
    expect(() => apply(undefined, 'm', { ...thing(), apiVersion: 'example.com/v2' })).toThrow(badRequest)
  })

  it('are rejected when the live managedFields cannot be decoded', () => {
    const live = thing({}, { managedFields: [{ manager: 'x', operation: 'Nonsense' }] })
    expect(() => apply(live, 'm', thing())).toThrow(/failed to decode managed fields: operation must be/)
  })
})

describe('fields with unusual names', () => {
  it('are merged, owned and removed like others', () => {
    const data = JSON.parse('{"__proto__":"p","constructor":"c","a.b/c":"d"}')
    const live = apply(undefined, 'm', thing({ map: data }))
    const changed = apply(live, 'm', thing({ map: JSON.parse('{"__proto__":"q","a.b/c":"d"}') }))
    expect(JSON.stringify((changed.spec as JsonObject).map)).toBe('{"__proto__":"q","a.b/c":"d"}')
    expect(Object.getPrototypeOf((changed.spec as JsonObject).map)).toBe(Object.prototype)
  })
})

describe('an object without managedFields', () => {
  it('is owned by before-first-apply from the first apply on', () => {
    const live = { ...thing({ text: 'old' }), metadata: { name: 'a', uid: 'u' } }
    expect(() => apply(live, 'm', thing({ text: 'new' }))).toThrow(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.text',
    )
    expect(managersOf(apply(live, 'm', thing({ map: { a: 'b' } })))).toEqual(['m', 'before-first-apply'])
  })
})

describe('migrating from kubectl client-side apply', () => {
  const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
  const configMapSchema = loadBuiltinSchemas()({ group: '', version: 'v1', kind: 'ConfigMap' })
  const configMap = (data: JsonObject, annotations?: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', ...(annotations ? { annotations } : {}) },
    data,
  })
  const live = trackUpdate({
    schema: configMapSchema,
    apiVersion: 'v1',
    live: undefined,
    updated: configMap({ a: '1', b: 'edited' }, { [lastApplied]: JSON.stringify(configMap({ a: '1', b: '1' })) }),
    manager: 'kubectl-client-side-apply',
    now: 0,
  })
  const applyConfigMap = (manager: string, data: JsonObject): JsonObject =>
    serverSideApply({
      schema: configMapSchema,
      apiVersion: 'v1',
      live,
      applied: configMap(data),
      manager,
      force: false,
      now: 0,
    })

  it('lets kubectl change fields that it applied before and updates the annotation', () => {
    const next = applyConfigMap('kubectl', { a: '2' })
    expect(next.data).toEqual({ a: '2', b: 'edited' })
    const annotations = (next.metadata as JsonObject).annotations as JsonObject
    expect(JSON.parse(String(annotations[lastApplied])).data).toEqual({ a: '2' })
  })

  it('still conflicts where the live value differs from the one applied before', () => {
    expect(() => applyConfigMap('kubectl', { a: '2', b: '2' })).toThrow(/1 conflict: .*\.data\.b$/)
  })

  it('applies only to kubectl', () => {
    expect(() => applyConfigMap('other', { a: '2' })).toThrow(StatusError)
  })
})
