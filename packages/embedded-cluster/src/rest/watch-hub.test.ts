import { expect, test } from 'vitest'
import { systemClock } from '../clock.ts'
import { Store } from '../store/store.ts'
import { WatchHub } from './watch-hub.ts'

function open() {
  const store = new Store({ clock: systemClock, window: { maxEvents: 100, maxAgeMs: 60_000 } })
  const hub = new WatchHub(store)
  const write = (key: string) => {
    const expected = store.get('things', key)?.revision ?? 0
    store.commit({ collection: 'things', key, expected, object: { kind: 'T', apiVersion: 'v1', metadata: {} } })
  }
  const visible = (prefix = '') => [...hub.visibleObjects('things', prefix)].map(({ key, revision }) => [key, revision])
  return { store, hub, write, visible }
}

test('a frozen state stays visible after the store has discarded it', () => {
  const { store, hub, write, visible } = open()
  write('default/a')
  write('other/b')
  const { revision } = store
  const before = visible()
  hub.freeze('things')
  write('default/a')
  write('default/c')
  store.compact()
  expect(hub.visibleRevision('things')).toBe(revision)
  expect(visible()).toEqual(before)
  expect(visible('default/').map(([key]) => key)).toEqual(['default/a'])
})

test('an earlier state can be frozen as long as the store remembers it', () => {
  const { store, hub, write, visible } = open()
  write('default/a')
  const { revision } = store
  const before = visible()
  write('default/a')
  write('default/b')
  hub.freeze('things', revision)
  expect(hub.visibleRevision('things')).toBe(revision)
  expect(visible()).toEqual(before)
  hub.thaw('things')
  store.compact()
  expect(() => hub.freeze('things', revision)).toThrow(RangeError)
})

test('the current state is visible again after thawing', () => {
  const { store, hub, write, visible } = open()
  write('default/a')
  hub.freeze('things')
  write('default/a')
  hub.thaw('things')
  expect(visible()).toEqual([['default/a', store.revision]])
})
