import { type KubeObject, type ObjectMeta, resource, type Stored } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { AlreadyControlledError, controllerReference } from '../owner-references/owner-reference.ts'
import { AcceptedDifferences } from './accepted-differences.ts'
import { ComparedObjects } from './compared-objects.ts'
import { type DesiredObject, desired, InvalidDesiredStateError } from './desired-object.ts'
import { NotControlledError } from './engine-error.ts'
import { FieldTreePool } from './field-tree.ts'
import type { LiveView } from './live-view.ts'
import { type Action, CREATED_FROM, planDesired } from './plan.ts'

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
const wanted = (name: string, data: Record<string, string>, wave = 0) =>
  desired(ConfigMaps, { metadata: { name, namespace: 'shop' }, data }, { wave })

const viewOf = (...objects: Stored<ConfigMap>[]): LiveView => ({
  // The view holds one kind only.
  get: (_, { name }) => objects.find(({ metadata }) => metadata.name === name) as never,
  ownedBy: (_, uid) =>
    objects.filter(({ metadata }) => metadata.ownerReferences?.some((ref) => ref.uid === uid)) as never,
})

const plan = (view: LiveView, ...objects: DesiredObject[]) =>
  planDesired({
    owner,
    desired: objects,
    kinds: [ConfigMaps],
    view,
    fieldManager: 'op',
    trees: new FieldTreePool(),
    accepted: new AcceptedDifferences(),
  })
const typesOf = (actions: readonly Action[]) => actions.map(({ type }) => type)

describe('a plan', () => {
  it('creates what does not exist, controlled by the owner and stamped with what was desired', () => {
    const [action] = plan(viewOf(), wanted('a', { color: 'blue' }))
    expect(action?.type === 'create' && action.object.metadata).toMatchObject({
      ownerReferences: [{ uid: owner.metadata.uid, controller: true }],
      annotations: { [CREATED_FROM]: expect.stringMatching(/^[0-9a-f]{16}$/) },
    })
  })

  it('keeps what carries every desired field', () => {
    const live = stored('a', { ...owned, ...appliedFields('color') }, { color: 'blue', theirs: 'x' })
    expect(typesOf(plan(viewOf(live), wanted('a', { color: 'blue' })))).toEqual(['keep'])
  })

  it('updates what was edited and names the field', () => {
    const live = stored('a', { ...owned, ...appliedFields('color') }, { color: 'red' })
    expect(plan(viewOf(live), wanted('a', { color: 'blue' }))).toMatchObject([
      { type: 'update', differences: [{ path: 'data.color', desired: 'blue', live: 'red' }] },
    ])
  })

  it('prunes what is controlled and no longer desired, after everything else', () => {
    const stale = stored('old', owned)
    expect(typesOf(plan(viewOf(stale), wanted('new', {})))).toEqual(['create', 'prune'])
  })

  it('does not change objects of other controllers, or objects being deleted', () => {
    const foreign = stored('foreign', { ownerReferences: [{ ...controllerReference(owner), uid: 'other' }] })
    const leaving = stored('leaving', { ...owned, deletionTimestamp: '2030-01-01T00:00:00Z' })
    expect(plan(viewOf(foreign, leaving))).toEqual([])
  })

  it('waits for the end of an object that is being deleted instead of updating it', () => {
    const leaving = stored('a', { ...owned, deletionTimestamp: '2030-01-01T00:00:00Z' })
    expect(typesOf(plan(viewOf(leaving), wanted('a', {})))).toEqual(['await-deletion'])
  })

  it('never adopts objects that another owner created or controls', () => {
    expect(() => plan(viewOf(stored('a')), wanted('a', {}))).toThrow(NotControlledError)
    const foreign = stored('a', { ownerReferences: [{ ...controllerReference(owner), uid: 'other' }] })
    expect(() => plan(viewOf(foreign), wanted('a', {}))).toThrow(AlreadyControlledError)
  })

  it('orders by wave and keeps the order inside a wave', () => {
    const actions = plan(viewOf(), wanted('late', {}, 2), wanted('b', {}), wanted('a', {}))
    expect(actions.map((action) => action.type === 'create' && action.object.metadata.name)).toEqual(['b', 'a', 'late'])
  })

  it('rejects a desired state that contradicts itself', () => {
    expect(() => plan(viewOf(), wanted('a', {}), wanted('a', {}))).toThrow(/ConfigMap shop\/a is desired twice/)
    const clusterWide = desired(ConfigMaps, { metadata: { name: 'a' } })
    expect(() => plan(viewOf(), clusterWide)).toThrow(InvalidDesiredStateError)
  })
})

describe('an object that was compared before', () => {
  const compared = new ComparedObjects()
  const trees = new FieldTreePool()
  const planAgain = (live: Stored<ConfigMap>, ...objects: DesiredObject[]) =>
    typesOf(
      planDesired({
        ...{ owner, desired: objects, kinds: [ConfigMaps], view: viewOf(live), fieldManager: 'op', trees, compared },
        accepted: new AcceptedDifferences(),
      }),
    )
  const live = Object.freeze(stored('a', { ...owned, ...appliedFields('color') }, { color: 'blue' }))

  it('is kept without a comparison, and updated as soon as either side changes', () => {
    expect(planAgain(live, wanted('a', { color: 'blue' }))).toEqual(['keep'])
    expect(planAgain(live, wanted('a', { color: 'blue' }))).toEqual(['keep'])
    expect(planAgain(live, wanted('a', { color: 'red' }))).toEqual(['update'])
    expect(planAgain({ ...live, data: { color: 'edited' } }, wanted('a', { color: 'blue' }))).toEqual(['update'])
    expect(planAgain(live, wanted('a', { color: 'blue' }))).toEqual(['keep'])
  })
})
