import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../clock.ts'
import { DamagedJournal, DataDirectoryInUse, Journal } from './journal.ts'
import { Store } from './store.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reeve-journal-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

function open(): { journal: Journal; store: Store } {
  const journal = Journal.open(directory)
  const store = new Store({
    clock: systemClock,
    window: { maxEvents: 100, maxAgeMs: 1000 },
    journal: (record) => journal.append(record),
  })
  for (const record of journal.read()) store.restore(record)
  journal.compact(store.revision, store.live())
  return { journal, store }
}

function create(store: Store, key: string): void {
  store.commit({
    collection: 'things',
    key,
    expected: 0,
    object: { kind: 'T', apiVersion: 'v1', metadata: { name: key } },
  })
}

function remove(store: Store, key: string): void {
  const expected = store.get('things', key)?.revision ?? 0
  store.commit({ collection: 'things', key, expected, object: undefined })
}

test('a store that was never closed is restored with its objects and its revision', () => {
  const first = open()
  create(first.store, 'a')
  create(first.store, 'b')
  remove(first.store, 'b')
  const { store } = open()
  expect([...store.live()]).toEqual([...first.store.live()])
  expect(store.revision).toBe(first.store.revision)
})

test('the revision is kept by a snapshot in which no object has it', () => {
  const first = open()
  create(first.store, 'a')
  remove(first.store, 'a')
  const { revision } = first.store
  open()
  expect(open().store.revision).toBe(revision)
})

test('a revision at which only history expired is not given to the next write after a restart', () => {
  const first = open()
  create(first.store, 'a')
  first.store.expire()
  const seen = first.store.revision
  const { store } = open()
  create(store, 'b')
  expect(store.eventsSince('things', seen)).toMatchObject([{ type: 'ADDED', key: 'b' }])
})

test('a line truncated by a crash is ignored, and the next start is clean', () => {
  const first = open()
  create(first.store, 'a')
  appendFileSync(join(directory, 'journal.jsonl'), '{"revision":99,"collec')
  const { store } = open()
  expect([...store.range('things')]).toHaveLength(1)
  create(store, 'b')
  expect([...open().store.range('things')]).toHaveLength(2)
})

test('corruption in the middle is reported with the file and the line', () => {
  const first = open()
  create(first.store, 'a')
  writeFileSync(join(directory, 'journal.jsonl'), `nonsense\n${readFileSync(join(directory, 'journal.jsonl'), 'utf8')}`)
  expect(() => open()).toThrow(DamagedJournal)
})

test('a directory is used by only one running process', () => {
  open().journal.close()
  // The parent process with this id is running.
  writeFileSync(join(directory, 'lock'), String(process.ppid))
  expect(() => Journal.open(directory)).toThrow(DataDirectoryInUse)
  writeFileSync(join(directory, 'lock'), '4194999')
  Journal.open(directory).close()
})

test('small files are readable by their owner only', () => {
  const { journal } = open()
  journal.writeFile('key', 'secret')
  expect(journal.readFile('key')).toBe('secret')
  expect(journal.readFile('other')).toBeUndefined()
  expect(statSync(join(directory, 'key')).mode & 0o777).toBe(0o600)
})
