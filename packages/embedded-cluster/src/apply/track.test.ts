import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject } from '../json.ts'
import { loadBuiltinSchemas } from '../schema/definitions.ts'
import { serverSideApply } from './apply.ts'
import { managedFieldsOf } from './managed-fields.ts'
import { resetFieldsFor } from './ownership.ts'
import { sameExceptTimes, trackUpdate } from './track.ts'

const schema = loadBuiltinSchemas()({ group: '', version: 'v1', kind: 'ConfigMap' })

function configMap(data: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'u', ...metadata }, data }
}

interface Tracking {
  manager?: string
  subresource?: string
  now?: number
}

function track(live: JsonObject | undefined, updated: JsonObject, options: Tracking = {}): JsonObject {
  const { manager = 'm', subresource, now = 0 } = options
  return trackUpdate({ schema, apiVersion: 'v1', live, updated, manager, subresource, now })
}

function entries(object: JsonObject): JsonObject[] {
  const list = managedFieldsOf(object)
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

function fieldsOf(object: JsonObject, manager: string): unknown {
  return entries(object).find((entry) => entry.manager === manager)?.fieldsV1
}

describe('trackUpdate', () => {
  it('gives a creator every field it set', () => {
    const created = track(undefined, configMap({ a: '1' }, { labels: { x: 'y' } }), { now: 1_700_000_000_123 })
    expect(entries(created)).toEqual([
      {
        manager: 'm',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2023-11-14T22:13:20Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } } },
      },
    ])
  })

  it('removes changed fields from other managers and drops managers with nothing left', () => {
    const created = track(undefined, configMap({ a: '1' }), { manager: 'one' })
    const changed = track(created, { ...created, data: { a: '2' } }, { manager: 'two' })
    expect(fieldsOf(changed, 'one')).toEqual({ 'f:data': {} })
    expect(fieldsOf(changed, 'two')).toEqual({ 'f:data': { 'f:a': {} } })
    const emptied = track(changed, configMap({}, changed.metadata as JsonObject), { manager: 'three' })
    expect(entries(emptied).map(({ manager }) => manager)).toEqual(['one'])
  })

  it('changes no entry and no timestamp when nothing changed', () => {
    const created = track(undefined, configMap({ a: '1' }))
    expect(track(created, created, { manager: 'other', now: 60_000 })).toEqual(created)
  })

  it('keeps stored managedFields when the client omits them or sends invalid ones', () => {
    const created = track(undefined, configMap({ a: '1' }))
    for (const managedFields of [undefined, null, [{ manager: 'x' }], 'x']) {
      expect(managedFieldsOf(track(created, configMap({ a: '1' }, { managedFields })))).toEqual(
        managedFieldsOf(created),
      )
    }
  })

  it('resets managedFields when the client sends an empty list or one empty entry', () => {
    const created = track(undefined, configMap({ a: '1' }))
    for (const managedFields of [[], [{}]]) {
      const reset = track(created, configMap({ a: '1' }, { managedFields }))
      expect(managedFieldsOf(reset)).toBeUndefined()
      expect(managedFieldsOf(track(reset, configMap({ a: '2' })))).toBeUndefined()
    }
  })

  it('accepts managedFields edited by the client, but not through a subresource', () => {
    const created = track(undefined, configMap({ a: '1' }))
    const edited = entries(created).map((entry) => ({ ...entry, manager: 'renamed' }))
    const updated = configMap({ a: '1' }, { managedFields: edited })
    expect(entries(track(created, updated)).map(({ manager }) => manager)).toEqual(['renamed'])
    expect(entries(track(created, updated, { subresource: 'status' })).map(({ manager }) => manager)).toEqual(['m'])
  })

  it('folds the oldest of more than ten Update managers into one', () => {
    let object = track(undefined, configMap({ k: 'x' }), { manager: 'creator', now: 0 })
    for (let index = 1; index <= 12; index++) {
      const data = { ...(object.data as JsonObject), [`k${index}`]: 'x' }
      object = track(object, { ...object, data }, { manager: `m${index}`, now: index * 1000 })
    }
    expect(entries(object)).toHaveLength(10)
    expect(fieldsOf(object, 'ancient-changes')).toEqual({
      'f:data': { '.': {}, 'f:k': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} },
    })
  })

  it('does not count Apply managers among them', () => {
    let object: JsonObject | undefined
    for (let index = 0; index < 15; index++) {
      const { uid: _, ...metadata } = configMap({}).metadata as JsonObject
      const applied = { ...configMap({ [`k${index}`]: 'x' }), metadata }
      object = serverSideApply({
        schema,
        apiVersion: 'v1',
        live: object,
        applied,
        manager: `m${index}`,
        force: false,
        now: 0,
      })
    }
    expect(entries(object ?? {})).toHaveLength(15)
  })

  it('records nothing for fields the endpoint cannot change', () => {
    expect(resetFieldsFor({ subresource: undefined, hasStatusSubresource: true })).toEqual([['status']])
    expect(resetFieldsFor({ subresource: undefined, hasStatusSubresource: false })).toEqual([])
    expect(resetFieldsFor({ subresource: 'status', hasStatusSubresource: true })).toEqual([['spec']])
    const object = { ...configMap({ a: '1' }), status: { x: 1 } }
    const custom = { schema: undefined, apiVersion: 'v1', live: undefined, updated: object, manager: 'm', now: 0 }
    expect(fieldsOf(trackUpdate(custom), 'm')).toEqual({ 'f:data': { '.': {}, 'f:a': {} } })
    expect(fieldsOf(trackUpdate({ ...custom, resetFields: [] }), 'm')).toHaveProperty('f:status')
  })
})

describe('sameExceptTimes', () => {
  it('distinguishes a change from an update of timestamps only', () => {
    const early = track(undefined, configMap({ a: '1' }), { now: 0 })
    const late = track(undefined, configMap({ a: '1' }), { now: 60_000 })
    expect(sameExceptTimes(early, late)).toBe(true)
    expect(sameExceptTimes(early, track(undefined, configMap({ a: '2' })))).toBe(false)
    expect(sameExceptTimes(early, track(undefined, configMap({ a: '1' }), { manager: 'other' }))).toBe(false)
  })
})
