/** Server-side apply of custom resources, whose schema defines how lists and maps are merged. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ApiResource } from './support/api-resource.ts'
import { applyConflict } from './support/apply-conflict.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { defineWidgets, schemaOf } from './support/custom-resource.ts'
import { ownersOf } from './support/owned-fields.ts'
import { failure, invalid, notFound } from './support/status.ts'

const api = ConformanceApi.forThisFile()
let widgets: ApiResource
let group: string

const text = { type: 'string' }
const { openAPIV3Schema } = schemaOf({
  replicas: { type: 'integer' },
  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  map: { type: 'object', additionalProperties: text },
  atomicMap: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
  list: { type: 'array', items: text },
  set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  ports: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['number', 'protocol'],
    items: {
      type: 'object',
      required: ['number'],
      properties: { number: { type: 'integer' }, protocol: { ...text, default: 'TCP' }, name: text },
    },
  },
  color: { ...text, default: 'blue' },
})
const conditions = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: { type: 'object', required: ['type'], properties: { type: text, status: text } },
}
openAPIV3Schema.properties.status = {
  type: 'object',
  properties: { phase: text, replicas: { type: 'integer' }, conditions },
}

beforeAll(async () => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  widgets = await defineWidgets(api, { version: { schema: { openAPIV3Schema }, subresources: { status: {}, scale } } })
  group = widgets.path().split('/')[2] ?? ''
})

describe('an applied custom resource', () => {
  it('is created with its defaults, which have no owner', async () => {
    const { status, body } = await widgets.apply('alice', 'new', { spec: { map: { a: '1' } } })
    expect(status).toBe(201)
    expect(body.spec).toEqual({ map: { a: '1' }, color: 'blue' })
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.spec.map.a'] })
  })

  it('that is repeated changes nothing', async () => {
    const spec = { replicas: 1, open: { x: { y: [1, 2] } }, map: { a: '1' }, set: ['a'], ports: [{ number: 80 }] }
    const { body } = await widgets.apply('alice', 'repeated', { spec })
    expect((await widgets.apply('alice', 'repeated', { spec })).body).toEqual(body)
  })

  it.each<[string, string, Json, Json, Json, string[]]>([
    ['maps', 'maps', { map: { a: '1' } }, { map: { b: '2' } }, { map: { a: '1', b: '2' } }, ['.spec.map.b']],
    [
      'sets',
      'sets',
      { set: ['a', 'b'] },
      { set: ['b', 'c'] },
      { set: ['a', 'b', 'c'] },
      ['.spec.set[="b"]', '.spec.set[="c"]'],
    ],
    [
      'lists by their keys, one of which has a default',
      'keys',
      { ports: [{ number: 80, name: 'a' }] },
      {
        ports: [
          { number: 80, protocol: 'UDP' },
          { number: 80, protocol: 'TCP' },
        ],
      },
      {
        ports: [
          { number: 80, protocol: 'UDP' },
          { number: 80, protocol: 'TCP', name: 'a' },
        ],
      },
      [
        '.spec.ports[number=80,protocol="TCP"]',
        '.spec.ports[number=80,protocol="TCP"].number',
        '.spec.ports[number=80,protocol="TCP"].protocol',
        '.spec.ports[number=80,protocol="UDP"]',
        '.spec.ports[number=80,protocol="UDP"].number',
        '.spec.ports[number=80,protocol="UDP"].protocol',
      ],
    ],
    [
      'fields without a schema by their shape',
      'open',
      { open: { x: { a: 1 } } },
      { open: { x: { b: 2 }, y: [3] } },
      { open: { x: { a: 1, b: 2 }, y: [3] } },
      ['.spec.open.x', '.spec.open.x.b', '.spec.open.y'],
    ],
  ])('merges %s', async (_, name, first, second, expected, owned) => {
    await widgets.apply('alice', name, { spec: first })
    const { body } = await widgets.apply('bob', name, { spec: second })
    expect(body.spec).toEqual({ ...expected, color: 'blue' })
    expect(ownersOf(body)['bob Apply']).toEqual(owned)
  })

  it.each<[string, string, Json, Json, string]>([
    ['lists without keys', 'list', { list: ['a'] }, { list: ['b'] }, '.spec.list'],
    ['atomic maps', 'atomic', { atomicMap: { a: '1' } }, { atomicMap: { b: '2' } }, '.spec.atomicMap'],
    ['lists without a schema', 'open-list', { open: { x: [1] } }, { open: { x: [2] } }, '.spec.open.x'],
  ])('does not merge %s', async (_, name, first, second, field) => {
    await widgets.apply('alice', name, { spec: first })
    const { body } = await widgets.apply('bob', name, { spec: second })
    expect(body).toEqual(applyConflict(['"alice"', field]))
  })

  it('gets a default again that its owner no longer applies', async () => {
    await widgets.apply('alice', 'default', { spec: { color: 'red', map: {} } })
    const { body } = await widgets.apply('alice', 'default', { spec: { map: {} } })
    expect(body.spec).toEqual({ color: 'blue', map: {} })
  })

  it.each<[string, string, Json, string]>([
    ['an unknown field', 'unknown', { shape: 'x' }, '.spec.shape: field not declared in schema'],
    ['a value of the wrong type', 'type', { map: 5 }, '.spec.map: expected map, got &{5}'],
    ['a duplicate value in a set', 'twice', { set: ['a', 'a'] }, '.spec.set: duplicate entries for key [="a"]'],
    ['an item without any of its keys', 'no-key', { ports: [{ name: 'x', number: 1 }, { name: 'y' }] }, ''],
  ])('with %s is rejected', async (_, name, spec, message) => {
    const { body } = await widgets.apply('alice', name, { spec })
    expect(body).toEqual(
      message === ''
        ? invalid(`Widget.${group}`, name, {
            field: 'spec.ports[1].number',
            reason: 'FieldValueRequired',
            message: 'Required value',
          })
        : failure({
            code: 500,
            message: `failed to create typed patch object (/${name}; ${group}/v1, Kind=Widget): ${message}`,
          }),
    )
  })
})

describe('the status of a custom resource', () => {
  const status = (manager: string, name: string, fields: Json, query?: string) =>
    widgets.apply(manager, name, { status: fields }, { subresource: 'status', ...(query !== undefined && { query }) })

  it('is not part of an apply to the object itself', async () => {
    const { body } = await widgets.apply('alice', 'no-status', { spec: { replicas: 1 }, status: { phase: 'Ready' } })
    expect(body.status).toBeUndefined()
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.spec.replicas'] })
  })

  it('is applied separately and changes nothing else', async () => {
    await widgets.apply('alice', 'status', { spec: { replicas: 1 } })
    const { body } = await widgets.apply(
      'controller',
      'status',
      { metadata: { labels: { x: 'y' } }, spec: { replicas: 9 }, status: { phase: 'Ready' } },
      { subresource: 'status' },
    )
    expect(body).toMatchObject({ spec: { replicas: 1 }, status: { phase: 'Ready' } })
    expect(body.metadata.labels).toBeUndefined()
    expect(ownersOf(body)).toEqual({
      'alice Apply': ['.spec.replicas'],
      'controller Apply status': ['.metadata.labels.x', '.status.phase'],
    })
  })

  it('has conditions of several managers', async () => {
    await widgets.apply('alice', 'conditions')
    await status('first', 'conditions', { conditions: [{ type: 'A', status: 'True' }] })
    const { body } = await status('second', 'conditions', { conditions: [{ type: 'B', status: 'False' }] })
    expect(body.status.conditions).toEqual([
      { type: 'A', status: 'True' },
      { type: 'B', status: 'False' },
    ])
    const less = await status('first', 'conditions', {})
    expect(less.body.status.conditions).toEqual([{ type: 'B', status: 'False' }])
  })

  it('conflicts with a manager of the status', async () => {
    await widgets.apply('alice', 'status-conflict')
    await status('first', 'status-conflict', { phase: 'Ready' })
    const { body } = await status('second', 'status-conflict', { phase: 'Failed' })
    expect(body).toEqual(applyConflict(['"first" with subresource "status"', '.status.phase']))
  })

  it('of an object that does not exist cannot be applied', async () => {
    const { body } = await status('first', 'nobody', { phase: 'Ready' })
    expect(body).toEqual(notFound(`widgets.${group}`, 'nobody'))
  })
})
