import type { KubeObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { SharedParts } from '../cache/shared-parts.ts'
import { compareFields } from './compare-fields.ts'
import { FieldTreePool, parseFieldTree } from './field-tree.ts'
import { ownFields, withOwnEntries } from './own-fields.ts'

const applied = (fieldsV1: unknown) => ({ operation: 'Apply', tree: parseFieldTree(fieldsV1) }) as const
const object = (fields: Record<string, unknown>): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  ...fields,
})

const containersOwned = applied({
  'f:spec': {
    'f:replicas': {},
    'f:containers': {
      'k:{"name":"web"}': {
        '.': {},
        'f:name': {},
        'f:image': {},
        'f:args': {},
        'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
      },
    },
  },
})
const web = { name: 'web', image: 'nginx:1', args: ['-v'], ports: [{ containerPort: 80 }] }
const liveWeb = { ...web, imagePullPolicy: 'Always', ports: [{ containerPort: 80, protocol: 'TCP' }] }
const pathsOf = (...parameters: Parameters<typeof compareFields>) =>
  compareFields(...parameters).map(({ path }) => path)

describe('comparing desired and live fields', () => {
  it.each(['constructor', 'toString'])('removes a label named %s that is no longer desired', (name) => {
    const owned = applied({ 'f:metadata': { 'f:labels': { 'f:app': {}, [`f:${name}`]: {} } } })
    const labelled = (labels: Record<string, string>) => ({ ...object({}), metadata: { name: 'web', labels } })
    const [difference] = compareFields(labelled({ app: 'a' }), labelled({ app: 'a', [name]: 'x' }), owned)
    expect(difference).toEqual({ path: `metadata.labels.${name}`, desired: undefined, live: 'x' })
  })

  it('finds nothing when the live object has every owned field, whatever other fields it has', () => {
    const live = object({
      spec: { replicas: 3, paused: true, containers: [{ name: 'sidecar', image: 'proxy:1' }, liveWeb] },
    })
    expect(compareFields(object({ spec: { replicas: 3, containers: [web] } }), live, containersOwned)).toEqual([])
  })

  it('finds a value that was changed manually', () => {
    const live = object({ spec: { replicas: 5, containers: [{ ...liveWeb, image: 'nginx:evil' }] } })
    expect(compareFields(object({ spec: { replicas: 3, containers: [web] } }), live, containersOwned)).toEqual([
      { path: 'spec.replicas', desired: 3, live: 5 },
      { path: 'spec.containers[name=web].image', desired: 'nginx:1', live: 'nginx:evil' },
    ])
  })

  it('finds a list that is replaced as one when any item differs', () => {
    const live = object({ spec: { replicas: 3, containers: [{ ...liveWeb, args: ['-v', '-x'] }] } })
    expect(pathsOf(object({ spec: { replicas: 3, containers: [web] } }), live, containersOwned)).toEqual([
      'spec.containers[name=web].args',
    ])
  })

  it('finds a field that is no longer desired', () => {
    const { args: _args, ...rest } = web
    const live = object({ spec: { replicas: 3, containers: [liveWeb] } })
    expect(compareFields(object({ spec: { replicas: 3, containers: [rest] } }), live, containersOwned)).toEqual([
      { path: 'spec.containers[name=web].args', desired: undefined, live: ['-v'] },
    ])
  })

  it('finds an item that is no longer desired and one that is new', () => {
    const live = object({ spec: { replicas: 3, containers: [liveWeb] } })
    const wanted = object({ spec: { replicas: 3, containers: [{ name: 'other', image: 'a:1' }] } })
    expect(pathsOf(wanted, live, containersOwned)).toEqual(['spec.containers[name=other]', 'spec.containers[name=web]'])
  })

  it('finds a field that another manager owns now, even with the desired value', () => {
    const live = object({ spec: { replicas: 3 } })
    expect(pathsOf(object({ spec: { replicas: 3 } }), live, applied({ 'f:spec': { 'f:other': {} } }))).toEqual([
      'spec.replicas',
    ])
  })

  it('ignores the order of members of a set', () => {
    const own = applied({ 'f:metadata': { 'f:finalizers': { 'v:"a"': {}, 'v:"b"': {} } } })
    const withFinalizers = (...finalizers: string[]) => ({
      ...object({}),
      metadata: { name: 'web', namespace: 'shop', finalizers },
    })
    expect(compareFields(withFinalizers('a', 'b'), withFinalizers('x', 'b', 'a'), own)).toEqual([])
    expect(pathsOf(withFinalizers('a'), withFinalizers('b', 'a'), own)).toEqual(['metadata.finalizers["b"]'])
  })

  it('takes an empty map that the server dropped as present', () => {
    const wanted = object({ spec: { selector: {} } })
    expect(compareFields(wanted, object({ spec: {} }), applied({ 'f:spec': { 'f:selector': {} } }))).toEqual([])
    expect(compareFields(wanted, object({ spec: {} }), undefined)).toEqual([])
  })

  it('makes everything a difference when nothing is owned', () => {
    expect(pathsOf(object({ data: { a: '1' } }), object({ data: { a: '1' } }), undefined)).toEqual(['data.a'])
  })

  it('ignores identity and defaults of an object as created', () => {
    const own = {
      operation: 'Update',
      tree: parseFieldTree({ 'f:spec': { 'f:replicas': {}, 'f:paused': {} } }),
    } as const
    const live = object({ spec: { replicas: 3, paused: false } })
    expect(compareFields(object({ spec: { replicas: 3 } }), live, own, 'as-created')).toEqual([])
    expect(pathsOf(object({ spec: { replicas: 3 } }), live, own)).toEqual(['spec.paused'])
  })

  it('ignores defaults inside what is owned as one, of an object as created', () => {
    const own = { operation: 'Update', tree: parseFieldTree({ 'f:spec': { 'f:claims': {} } }) } as const
    const live = object({ spec: { claims: [{ name: 'data', mode: 'Filesystem' }] } })
    const desired = (...claims: readonly unknown[]) => object({ spec: { claims } })
    expect(compareFields(desired({ name: 'data' }), live, own, 'as-created')).toEqual([])
    for (const other of [desired({ name: 'logs' }), desired({ name: 'data' }, { name: 'logs' })]) {
      expect(pathsOf(other, live, own, 'as-created')).toEqual(['spec.claims'])
    }
    expect(pathsOf(desired({ name: 'data' }), live, own)).toEqual(['spec.claims'])
  })
})

describe('own fields', () => {
  const fieldsV1 = { 'f:spec': { 'f:replicas': {} } }
  const entry = (manager: string, operation: 'Apply' | 'Update', subresource?: string) => ({
    manager,
    operation,
    fieldsV1,
    ...(subresource !== undefined && { subresource }),
  })
  const live = {
    ...object({}),
    metadata: {
      name: 'web',
      managedFields: [
        entry('kubectl', 'Update'),
        entry('op', 'Update'),
        entry('op', 'Update', 'status'),
        entry('op', 'Apply'),
      ],
    },
  }

  it('prefers what was applied over what was created', () => {
    expect(ownFields(live, 'op', new FieldTreePool())?.operation).toBe('Apply')
    expect(ownFields(live, 'nobody', new FieldTreePool())).toBeUndefined()
  })

  it('keeps only the own entries in the cache', () => {
    const kept = withOwnEntries(live, live, 'op').metadata.managedFields
    expect(kept?.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual(['op Update', 'op Apply'])
    expect(withOwnEntries(live, live, 'nobody').metadata).not.toHaveProperty('managedFields')
    expect(live.metadata.managedFields).toHaveLength(4)
  })

  it('keeps them where everything else is reduced', () => {
    const reduced = { apiVersion: live.apiVersion, kind: live.kind, metadata: { name: live.metadata.name } }
    const kept = withOwnEntries(reduced, live, 'op')
    expect(ownFields(kept, 'op', new FieldTreePool())).toEqual(ownFields(live, 'op', new FieldTreePool()))
    expect(withOwnEntries(reduced, live, 'nobody')).toBe(reduced)
  })

  it('parses what objects of one template own once, but for references to their owners', () => {
    const owned = (uid: string) => ({
      'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} }, 'f:ownerReferences': { [`k:{"uid":"${uid}"}`]: {} } },
      'f:spec': { 'f:replicas': {}, 'f:list': { 'k:{"name":"a"}': { 'f:name': {} } } },
    })
    const parts = new SharedParts()
    const [, second, third] = ['1', '2', '3'].map((uid) => parts.freeze({ fieldsV1: owned(uid) }).fieldsV1)
    const pool = new FieldTreePool()
    expect(pool.intern(third)).toEqual(parseFieldTree(owned('3')))
    expect(pool.intern(third).fields.get('spec')).toBe(pool.intern(second).fields.get('spec'))
    expect(pool.intern({})).toEqual(parseFieldTree({}))
  })

  it('parses again what may have changed', () => {
    const owned: Record<string, unknown> = { 'f:spec': { 'f:replicas': {} } }
    const pool = new FieldTreePool()
    pool.intern(owned)
    owned['f:spec'] = { 'f:image': {} }
    expect(pool.intern(owned)).toEqual(parseFieldTree(owned))
  })
})

describe('drift', () => {
  const own = applied({ 'f:spec': { 'f:cpu': {}, 'f:list': { 'k:{"name":"a"}': { 'f:name': {} } } } })
  const drift = (desired: object, live: object) =>
    compareFields(object({ spec: desired }), object({ spec: live }), own, 'drift').map(({ path }) => path)

  it('ignores how the server expresses a value that is still owned', () => {
    expect(drift({ cpu: 0.5 }, { cpu: '500m' })).toEqual([])
  })

  it('is a value that another manager owns and changed', () => {
    expect(drift({ image: 'a:1' }, { image: 'a:2' })).toEqual(['spec.image'])
    expect(drift({ image: 'a:1' }, { image: 'a:1', more: true })).toEqual([])
  })

  it('is a missing item, not one that another manager added', () => {
    expect(drift({ list: [{ name: 'a' }, { name: 'b' }] }, { list: [{ name: 'a' }] })).toEqual(['spec.list[name=b]'])
    expect(drift({ list: [{ name: 'a' }] }, { list: [{ name: 'a' }, { name: 'x' }] })).toEqual([])
  })
})
