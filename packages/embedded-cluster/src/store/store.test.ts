import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import type { StoreEvent } from './event-log.ts'
import { Store } from './store.ts'

function openStore(window: { maxEvents?: number; maxAgeMs?: number } = {}, now = () => 0): Store {
  const clock = { ...systemClock, now }
  return new Store({ clock, window: { maxEvents: window.maxEvents ?? 100, maxAgeMs: window.maxAgeMs ?? 60_000 } })
}

function object(name: string, value = 0): JsonObject {
  return { kind: 'Thing', apiVersion: 'v1', metadata: { name }, value }
}

function put(store: Store, key: string, value = 0, collection = 'things') {
  const expected = store.get(collection, key)?.revision ?? 0
  const stored = store.commit({ collection, key, expected, object: object(key, value) })
  if (stored === 'conflict') throw new Error('unexpected conflict')
  return stored
}

function remove(store: Store, key: string) {
  const expected = store.get('things', key)?.revision ?? 0
  return store.commit({ collection: 'things', key, expected, object: undefined })
}

const keys = (stored: Iterable<{ key: string }> | undefined) => [...(stored ?? [])].map(({ key }) => key)

test('every write has the next revision, which is also in the object', () => {
  const store = openStore()
  const first = put(store, 'a')
  const second = put(store, 'b')
  expect(second.revision).toBe(first.revision + 1)
  expect(second.object.metadata).toMatchObject({ resourceVersion: String(second.revision) })
})

test('a full store rejects new objects, and takes changes and deletions', () => {
  const window = { maxEvents: 100, maxAgeMs: 60_000 }
  const store = new Store({ clock: systemClock, window, maxObjects: 2 })
  put(store, 'a')
  put(store, 'b', 0, 'others')
  expect(() => put(store, 'c')).toThrow('the cluster has 2 objects and cannot store more')
  expect(put(store, 'a', 1).object).toMatchObject({ value: 1 })
  remove(store, 'a')
  put(store, 'c')
  expect(keys(store.range('things'))).toEqual(['c'])
})

test('a write computed from a stale revision changes nothing', () => {
  const store = openStore()
  const live = put(store, 'a')
  expect(store.commit({ collection: 'things', key: 'a', expected: 0, object: object('a') })).toBe('conflict')
  expect(store.commit({ collection: 'things', key: 'a', expected: live.revision + 1, object: object('a') })).toBe(
    'conflict',
  )
  expect(store.commit({ collection: 'things', key: 'x', expected: 7, object: undefined })).toBe('conflict')
  expect(store.revision).toBe(live.revision)
})

test('objects cannot be modified by readers', () => {
  const store = openStore()
  const { object: stored } = put(store, 'a')
  expect(() => {
    stored.value = 1
  }).toThrow(TypeError)
  expect(Object.isFrozen(stored.metadata)).toBe(true)
})

test('the store lists in byte order of the keys, by namespace and after a key', () => {
  const store = openStore()
  for (const key of ['b/x', 'a/z', 'a-b/y', 'a/b', 'a/a']) put(store, key)
  expect(keys(store.range('things'))).toEqual(['a-b/y', 'a/a', 'a/b', 'a/z', 'b/x'])
  expect(keys(store.range('things', { prefix: 'a/' }))).toEqual(['a/a', 'a/b', 'a/z'])
  expect(keys(store.range('things', { prefix: 'a/', after: 'a/a' }))).toEqual(['a/b', 'a/z'])
  expect(keys(store.range('things', { prefix: 'a/', after: 'a/aa' }))).toEqual(['a/b', 'a/z'])
})

test('the store reads the state of an earlier revision', () => {
  const store = openStore()
  put(store, 'a', 1)
  const { revision } = put(store, 'b', 1)
  put(store, 'a', 2)
  remove(store, 'b')
  put(store, 'c', 1)
  const then = [...(store.rangeAt('things', revision) ?? [])]
  expect(then.map(({ object: { value }, key }) => [key, value])).toEqual([
    ['a', 1],
    ['b', 1],
  ])
  expect(store.getAt('things', 'b', revision)).toMatchObject({ key: 'b' })
  expect(store.getAt('things', 'c', revision)).toBeUndefined()
})

test('a deletion event has the last state with the revision of the deletion', () => {
  const store = openStore()
  put(store, 'a', 5)
  const events: StoreEvent[] = []
  store.listen('things', (event) => events.push(event))
  remove(store, 'a')
  expect(events).toHaveLength(1)
  expect(events[0]?.current.object).toMatchObject({ value: 5, metadata: { resourceVersion: String(store.revision) } })
})

test('the store discards the oldest events beyond the window, per resource', () => {
  const store = openStore({ maxEvents: 3 })
  const quiet = put(store, 'q', 0, 'quiet').revision
  const { revision } = put(store, 'a')
  for (let value = 1; value <= 4; value += 1) put(store, 'a', value)
  expect(store.eventsSince('things', revision)).toBeUndefined()
  expect(store.rangeAt('things', revision)).toBeUndefined()
  expect(store.getAt('things', 'a', revision)).toBe('forgotten')
  // A client that has seen the last change of a quiet resource has missed nothing.
  expect(store.eventsSince('quiet', quiet)).toEqual([])
})

test('the store discards events by age when the next one is committed', () => {
  let now = 0
  const store = openStore({ maxAgeMs: 1000 }, () => now)
  const { revision } = put(store, 'a')
  put(store, 'a', 1)
  now = 5000
  expect(store.eventsSince('things', revision)).toHaveLength(1)
  put(store, 'a', 2)
  expect(store.eventsSince('things', revision)).toBeUndefined()
})

test('the store discards history by age, also while nothing is written', () => {
  let now = 0
  const store = openStore({ maxAgeMs: 5000 }, () => now)
  const { revision } = put(store, 'a')
  const age = () => {
    now += 1000
    store.expire()
  }
  for (let second = 1; second <= 5; second += 1) age()
  expect(keys(store.rangeAt('things', revision))).toEqual(['a'])
  expect(store.eventsSince('things', revision - 1)).toHaveLength(1)
  age()
  expect(store.rangeAt('things', revision)).toBeUndefined()
  expect(store.getAt('things', 'a', revision)).toBe('forgotten')
  expect(store.eventsSince('things', revision - 1)).toBeUndefined()
  // A client that watches has missed nothing, however old its revision is.
  expect(store.eventsSince('things', revision)).toEqual([])
  expect(keys(store.rangeAt('things', store.revision))).toEqual(['a'])
  expect(store.revision).toBe(revision + 6)
})

test('nothing expires when the journal fails', () => {
  let isFull = false
  const journal = () => {
    if (isFull) throw new Error('disk full')
  }
  const store = new Store({ clock: systemClock, window: { maxEvents: 10, maxAgeMs: 1000 }, journal })
  const { revision } = put(store, 'a')
  isFull = true
  expect(() => store.expire()).toThrow('disk full')
  expect(store.revision).toBe(revision)
})

test('compaction discards all history', () => {
  const store = openStore()
  const { revision } = put(store, 'a')
  put(store, 'a', 1)
  store.compact()
  expect(store.eventsSince('things', revision)).toBeUndefined()
  expect(store.eventsSince('things', store.revision)).toEqual([])
})

test('writes by listeners are delivered after all listeners got the first event', () => {
  const store = openStore()
  const seen: string[] = []
  store.listen('things', (event) => {
    if (event.key === 'a') put(store, 'b')
  })
  store.listenToAll((event) => seen.push(event.key))
  put(store, 'a')
  expect(seen).toEqual(['a', 'b'])
})

test('a write fails when the journal fails', () => {
  const store = new Store({
    clock: systemClock,
    window: { maxEvents: 10, maxAgeMs: 1000 },
    journal: () => {
      throw new Error('disk full')
    },
  })
  expect(() => put(store, 'a')).toThrow('disk full')
  expect(store.get('things', 'a')).toBeUndefined()
  expect(store.revision).toBe(1)
})

test('replaying events on an old state produces the current state, for any history', () => {
  const step = fc.record({ key: fc.constantFrom('a', 'b', 'c'), value: fc.option(fc.nat(3), { nil: undefined }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(40), (steps, cut) => {
      const store = openStore({ maxEvents: 1000 })
      let start = store.revision
      for (const [index, { key, value }] of steps.entries()) {
        if (index === cut) start = store.revision
        if (value !== undefined) put(store, key, value)
        else if (store.get('things', key) !== undefined) remove(store, key)
      }
      const state = new Map([...(store.rangeAt('things', start) ?? [])].map((stored) => [stored.key, stored.object]))
      let last = start
      for (const event of store.eventsSince('things', start) ?? []) {
        expect(event.revision).toBeGreaterThan(last)
        last = event.revision
        if (event.type === 'DELETED') state.delete(event.key)
        else state.set(event.key, event.current.object)
      }
      const now = new Map([...store.range('things')].map((stored) => [stored.key, stored.object]))
      expect(state).toEqual(now)
    }),
  )
})
