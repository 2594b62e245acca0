import type { Stored } from '@reeve/kube'
import { describe, expect, test } from 'vitest'
import type { Widget } from '../testing/fake-objects.ts'
import { widget } from '../testing/fake-objects.ts'
import { InformerStore } from './informer-store.ts'

function stored(name: string, version: number, size = version, uid = `uid-${name}`): Stored<Widget> {
  const meta = { name, uid, resourceVersion: String(version), creationTimestamp: '2030-01-01T00:00:00Z' }
  const base = widget(name, size)
  return { ...base, metadata: { ...base.metadata, ...meta } }
}

/** A store whose first list had `objects` and was at version 10. */
function storeWith(...objects: Stored<Widget>[]): InformerStore<Widget> {
  const store = new InformerStore<Widget>()
  store.replace(new Map(objects.map((object) => [`ns/${object.metadata.name}`, object])), '10', store.sequence)
  return store
}

const sizeOf = (store: InformerStore<Widget>, name = 'a') => store.view.get(`ns/${name}`)?.spec?.size
const write = (store: InformerStore<Widget>, object: Stored<Widget>) => store.recordWrite(object, object)

describe('own writes', () => {
  test('are visible before their event and are replaced by it without a second change', () => {
    const store = storeWith(stored('a', 5))
    write(store, stored('a', 11))
    expect(sizeOf(store)).toBe(11)
    const changes = store.applyEvent('MODIFIED', stored('a', 11))
    expect(changes).toMatchObject([
      { type: 'modified', previous: { spec: { size: 5 } }, object: { spec: { size: 11 } }, isOwn: true },
    ])
    expect(store.applyEvent('MODIFIED', stored('a', 12))).not.toMatchObject([{ isOwn: true }])
    expect(store.ownWrites).toBe(0)
  })

  test('whose event came before the response need no overlay', () => {
    const store = storeWith(stored('a', 5))
    store.applyEvent('MODIFIED', stored('a', 11))
    write(store, stored('a', 11))
    expect(store.ownWrites).toBe(0)
    expect(sizeOf(store)).toBe(11)
  })

  test('whose response comes after the event of a later change do not hide that change', () => {
    const store = storeWith(stored('a', 5))
    store.applyEvent('MODIFIED', stored('a', 11))
    store.applyEvent('MODIFIED', stored('a', 12))
    write(store, stored('a', 11))
    expect(sizeOf(store)).toBe(12)
  })

  test('whose responses come out of order show the newer one', () => {
    const store = storeWith(stored('a', 5))
    write(store, stored('a', 12))
    write(store, stored('a', 11))
    expect(sizeOf(store)).toBe(12)
  })

  test('stay visible while older events of the same object arrive; handlers hear those all the same', () => {
    const store = storeWith(stored('a', 5))
    write(store, stored('a', 20))
    expect(store.applyEvent('MODIFIED', stored('a', 11))).toHaveLength(1)
    expect(sizeOf(store)).toBe(20)
    store.applyEvent('DELETED', stored('a', 15))
    expect(sizeOf(store)).toBe(20)
  })

  test('end when the watch passes them with another object or a bookmark', () => {
    const store = storeWith(stored('a', 5))
    write(store, stored('a', 11))
    write(store, stored('b', 12))
    store.applyEvent('ADDED', stored('c', 11))
    expect(store.ownWrites).toBe(1)
    store.bookmark('12')
    expect(store.ownWrites).toBe(0)
    // The watch never showed them, so they do not exist anymore.
    expect(sizeOf(store)).toBe(5)
    expect(sizeOf(store, 'b')).toBeUndefined()
  })

  test('that move an object out of the selection hide it until the watch agrees', () => {
    const store = storeWith(stored('a', 5))
    store.recordWrite(stored('a', 11), undefined)
    expect(sizeOf(store)).toBeUndefined()
    expect(store.applyEvent('DELETED', stored('a', 11))).toMatchObject([{ type: 'deleted' }])
    expect(store.ownWrites).toBe(0)
  })

  test('with versions that cannot be ordered are not laid over', () => {
    const store = storeWith(stored('a', 5))
    const odd = stored('a', 11)
    write(store, { ...odd, metadata: { ...odd.metadata, resourceVersion: 'opaque' } })
    expect(sizeOf(store)).toBe(5)
  })

  test('survive a list that was in progress, and end with one that began after them', () => {
    const store = storeWith(stored('a', 5))
    const begunBefore = store.sequence
    write(store, stored('a', 15))
    store.replace(new Map([['ns/a', stored('a', 5)]]), '12', begunBefore)
    expect(sizeOf(store)).toBe(15)
    const changes = store.replace(new Map([['ns/a', stored('a', 5)]]), '13', store.sequence)
    expect(sizeOf(store)).toBe(5)
    expect(store.ownWrites).toBe(0)
    expect(changes).toMatchObject([
      { type: 'modified', object: { spec: { size: 15 } } },
      { type: 'modified', object: { spec: { size: 5 } } },
    ])
  })

  test('of an object that was deleted before the watch showed it are still reported', () => {
    const store = storeWith()
    write(store, stored('a', 11))
    const changes = store.replace(new Map(), '15', store.sequence)
    expect(sizeOf(store)).toBeUndefined()
    expect(changes).toMatchObject([
      { type: 'added', object: { spec: { size: 11 } } },
      { type: 'deleted', object: { spec: { size: 11 } }, isFinalStateUnknown: true },
    ])
  })
})

describe('own deletions', () => {
  test('hide the object immediately, and a late event does not bring it back', () => {
    const store = storeWith(stored('a', 5))
    store.recordDeletion('ns/a', store.beginDeletion('ns/a'), 'uid-a')
    expect(sizeOf(store)).toBeUndefined()
    store.applyEvent('MODIFIED', stored('a', 11))
    expect(sizeOf(store)).toBeUndefined()
    expect(store.applyEvent('DELETED', stored('a', 12))).toMatchObject([{ type: 'deleted' }])
    expect(sizeOf(store)).toBeUndefined()
  })

  test('do not hide the next object of that name, whether its event comes before or after the response', () => {
    const before = storeWith(stored('a', 5))
    const start = before.beginDeletion('ns/a')
    before.applyEvent('DELETED', stored('a', 11))
    before.applyEvent('ADDED', stored('a', 12, 12, 'uid-a2'))
    before.recordDeletion('ns/a', start, 'uid-a')
    expect(sizeOf(before)).toBe(12)

    const after = storeWith(stored('a', 5))
    after.recordDeletion('ns/a', after.beginDeletion('ns/a'), 'uid-a')
    after.applyEvent('DELETED', stored('a', 11))
    after.applyEvent('ADDED', stored('a', 12, 12, 'uid-a2'))
    expect(sizeOf(after)).toBe(12)
  })

  test('followed by an own creation show the new incarnation although the watch still shows the old one', () => {
    const store = storeWith(stored('a', 5))
    store.recordDeletion('ns/a', store.beginDeletion('ns/a'), 'uid-a')
    write(store, stored('a', 12, 12, 'uid-a2'))
    expect(sizeOf(store)).toBe(12)
    store.applyEvent('DELETED', stored('a', 11))
    expect(sizeOf(store)).toBe(12)
    store.applyEvent('ADDED', stored('a', 12, 12, 'uid-a2'))
    expect(sizeOf(store)).toBe(12)
  })

  test('of objects that were just created leave nothing, whatever events still arrive', () => {
    const store = storeWith(stored('a', 5))
    write(store, stored('a', 12, 12, 'uid-a2'))
    store.recordDeletion('ns/a', store.beginDeletion('ns/a'), 'uid-a2')
    const late = [
      ['DELETED', stored('a', 11)],
      ['ADDED', stored('a', 12, 12, 'uid-a2')],
      ['DELETED', stored('a', 13, 12, 'uid-a2')],
    ] as const
    expect(sizeOf(store)).toBeUndefined()
    for (const [type, object] of late) {
      store.applyEvent(type, object)
      expect(sizeOf(store)).toBeUndefined()
    }
  })

  test('win over the late response of an earlier write to the same object', () => {
    const store = storeWith(stored('a', 5))
    store.recordDeletion('ns/a', store.beginDeletion('ns/a'), 'uid-a')
    write(store, stored('a', 11))
    expect(sizeOf(store)).toBeUndefined()
  })

  test('of an object that another client recreated also remove the older own write', () => {
    const store = storeWith(stored('a', 5))
    write(store, stored('a', 11))
    store.recordDeletion('ns/a', store.beginDeletion('ns/a'), 'uid-a2')
    expect(sizeOf(store)).toBeUndefined()
  })

  test('of an incarnation that the cache has never seen hide the one it shows, and the late event of the other', () => {
    const store = storeWith(stored('a', 5))
    store.recordDeletion('ns/a', store.beginDeletion('ns/a'), 'uid-a2')
    expect(sizeOf(store)).toBeUndefined()
    store.applyEvent('DELETED', stored('a', 11))
    store.applyEvent('ADDED', stored('a', 12, 12, 'uid-a2'))
    expect(sizeOf(store)).toBeUndefined()
  })

  test('whose response has no uid hide what was shown when they were sent', () => {
    const store = storeWith(stored('a', 5))
    store.recordDeletion('ns/a', store.beginDeletion('ns/a'), undefined)
    expect(sizeOf(store)).toBeUndefined()
  })

  test('are forgotten when the server was restored and a list begun later shows the object again', () => {
    const store = storeWith(stored('a', 5))
    const begunBefore = store.sequence
    store.recordDeletion('ns/a', store.beginDeletion('ns/a'), 'uid-a')
    store.replace(new Map([['ns/a', stored('a', 5)]]), '11', begunBefore)
    expect(sizeOf(store)).toBeUndefined()
    store.replace(new Map([['ns/a', stored('a', 5)]]), '9', store.sequence)
    expect(sizeOf(store)).toBe(5)
  })
})

describe('events', () => {
  test('that repeat or predate what is known change nothing', () => {
    const store = storeWith(stored('a', 5))
    store.applyEvent('MODIFIED', stored('a', 12))
    expect(store.applyEvent('MODIFIED', stored('a', 12))).toEqual([])
    expect(store.applyEvent('MODIFIED', stored('a', 11))).toEqual([])
    expect(store.applyEvent('DELETED', stored('a', 11))).toEqual([])
    expect(sizeOf(store)).toBe(12)
  })

  test('a deletion that carries the last version instead of its own is still a deletion', () => {
    const store = storeWith(stored('a', 5))
    store.applyEvent('MODIFIED', stored('a', 12))
    expect(store.applyEvent('DELETED', stored('a', 12))).toMatchObject([
      { type: 'deleted', isFinalStateUnknown: false },
    ])
    expect(sizeOf(store)).toBeUndefined()
  })

  test('an object that was replaced is reported as deleted and added', () => {
    const store = storeWith(stored('a', 5))
    expect(store.applyEvent('MODIFIED', stored('a', 12, 12, 'uid-a2'))).toMatchObject([
      { type: 'deleted', isFinalStateUnknown: true, object: { metadata: { uid: 'uid-a' } } },
      { type: 'added', object: { metadata: { uid: 'uid-a2' } } },
    ])
  })
})

test('indexes follow the view, own writes and deletions included', () => {
  const store = storeWith(stored('a', 5), stored('b', 6))
  store.view.addIndex('size', (object) => [String(object.spec?.size)])
  const names = (size: number) => store.view.byIndex('size', String(size)).map(({ metadata }) => metadata.name)
  expect(names(5)).toEqual(['a'])
  write(store, stored('a', 11, 6))
  expect(names(5)).toEqual([])
  expect(names(6).toSorted()).toEqual(['a', 'b'])
  store.recordDeletion('ns/b', store.beginDeletion('ns/b'), 'uid-b')
  expect(names(6)).toEqual(['a'])
})
