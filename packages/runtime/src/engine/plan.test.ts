import { type KubeObject, type ObjectMeta, resource, type Stored } from '@reeve/kube'
import { describe, expect, it, test } from 'vitest'
import type { CacheReader } from '../cache/cache-reader.ts'
import { FieldTreePool } from '../field-ownership/field-tree.ts'
import { AlreadyControlledError, controllerReference } from '../owner-references/owner-reference.ts'
import { AcceptedDifferences } from './accepted-differences.ts'
import { ComparedObjects } from './compared-objects.ts'
import { checkDesired, type DesiredObject, desired, InvalidDesiredStateError } from './desired-object.ts'
import { NotControlledError } from './engine-error.ts'
import { findLeftovers } from './leftovers.ts'
import { CREATED_FROM, planObject } from './plan.ts'

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}
const ConfigMaps = resource<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
})

const stored = (name: string, metadata: ObjectMeta = {}, data?: Record<string, string>): Stored<ConfigMap> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-${name}`,
    resourceVersion: '7',
    creationTimestamp: '2030-01-01T00:00:00Z',
    ...metadata,
  },
  ...(data && { data }),
})
const owner: Stored<KubeObject> = { ...stored('app'), apiVersion: 'example.com/v1', kind: 'App' }
const owned = { ownerReferences: [controllerReference(owner)] }
const appliedFields = (...keys: string[]) => ({
  managedFields: [
    {
      manager: 'op',
      operation: 'Apply' as const,
      fieldsV1: {
        'f:metadata': { 'f:ownerReferences': { [`k:{"uid":"${owner.metadata.uid}"}`]: {} } },
        'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])),
      },
    },
  ],
})
const wanted = (name: string, data: Record<string, string>) =>
  desired(ConfigMaps, { metadata: { name, namespace: 'shop' }, data })

const viewOf = (...objects: Stored<ConfigMap>[]): CacheReader => ({
  byIndex: () => [],
  selects: () => true,
  // The view holds one kind only.
  list: () => objects as never,
  get: (_, { name }) => objects.find(({ metadata }) => metadata.name === name) as never,
  ownedBy: (_, uid) =>
    objects.filter(({ metadata }) => metadata.ownerReferences?.some((ref) => ref.uid === uid)) as never,
})

const plan = (view: CacheReader, wanted: DesiredObject) =>
  planObject(
    {
      ...{ owner, elsewhere: [], view, fieldManager: 'op' },
      ...{ trees: new FieldTreePool(), accepted: new AcceptedDifferences(), compared: new ComparedObjects() },
    },
    wanted,
  )
const leftovers = (view: CacheReader, ...objects: DesiredObject[]) =>
  findLeftovers({ owner, desired: objects, kinds: [ConfigMaps], elsewhere: [], view })

describe('a plan', () => {
  it('creates what does not exist, controlled by the owner and stamped with what was desired', () => {
    const action = plan(viewOf(), wanted('a', { color: 'blue' }))
    expect(action.type === 'create' && action.object.metadata).toMatchObject({
      ownerReferences: [{ uid: owner.metadata.uid, controller: true }],
      annotations: { [CREATED_FROM]: expect.stringMatching(/^[0-9a-f]{16}$/) },
    })
  })

  it('keeps what carries every desired field', () => {
    const live = stored('a', { ...owned, ...appliedFields('color') }, { color: 'blue', theirs: 'x' })
    expect(plan(viewOf(live), wanted('a', { color: 'blue' })).type).toBe('keep')
  })

  it('updates what was edited and names the field', () => {
    const live = stored('a', { ...owned, ...appliedFields('color') }, { color: 'red' })
    expect(plan(viewOf(live), wanted('a', { color: 'blue' }))).toMatchObject({
      type: 'update',
      differences: [{ path: 'data.color', desired: 'blue', live: 'red' }],
    })
  })

  it('waits for the end of an object that is being deleted instead of updating it', () => {
    const leaving = stored('a', { ...owned, deletionTimestamp: '2030-01-01T00:00:00Z' })
    expect(plan(viewOf(leaving), wanted('a', {})).type).toBe('await-deletion')
  })

  it('never adopts objects that another owner created or controls', () => {
    expect(() => plan(viewOf(stored('a')), wanted('a', {}))).toThrow(NotControlledError)
    const foreign = stored('a', { ownerReferences: [{ ...controllerReference(owner), uid: 'other' }] })
    expect(() => plan(viewOf(foreign), wanted('a', {}))).toThrow(AlreadyControlledError)
  })
})

describe('what is left over', () => {
  it('is what the owner controls and does not desire', () => {
    const stale = stored('old', owned)
    expect(leftovers(viewOf(stale, stored('new', owned)), wanted('new', {}))).toEqual([
      { resource: ConfigMaps, live: stale },
    ])
  })

  it('includes neither objects of other controllers nor objects being deleted', () => {
    const foreign = stored('foreign', { ownerReferences: [{ ...controllerReference(owner), uid: 'other' }] })
    const leaving = stored('leaving', { ...owned, deletionTimestamp: '2030-01-01T00:00:00Z' })
    expect(leftovers(viewOf(foreign, leaving))).toEqual([])
  })
})

test('a desired state that contradicts itself is rejected', () => {
  expect(() => checkDesired([wanted('a', {}), wanted('a', {})])).toThrow(/ConfigMap shop\/a is desired twice/)
  const clusterWide = desired(ConfigMaps, { metadata: { name: 'a' } })
  expect(() => checkDesired([clusterWide])).toThrow(InvalidDesiredStateError)
})

describe('an object that was compared before', () => {
  const compared = new ComparedObjects()
  const trees = new FieldTreePool()
  const planAgain = (live: Stored<ConfigMap>, wanted: DesiredObject) =>
    planObject(
      {
        ...{ owner, elsewhere: [], view: viewOf(live), fieldManager: 'op', trees, compared },
        accepted: new AcceptedDifferences(),
      },
      wanted,
    ).type
  const live = Object.freeze(stored('a', { ...owned, ...appliedFields('color') }, { color: 'blue' }))

  it('is kept without a comparison, and updated as soon as either side changes', () => {
    expect(planAgain(live, wanted('a', { color: 'blue' }))).toBe('keep')
    expect(planAgain(live, wanted('a', { color: 'blue' }))).toBe('keep')
    expect(planAgain(live, wanted('a', { color: 'red' }))).toBe('update')
    expect(planAgain({ ...live, data: { color: 'edited' } }, wanted('a', { color: 'blue' }))).toBe('update')
    expect(planAgain(live, wanted('a', { color: 'blue' }))).toBe('keep')
  })
})
