import { describe, expect, it } from 'vitest'
import type { Reconcile } from '../wire.ts'
import { Journal, resourceId } from './journal.ts'

const limits = { reconciles: 6, reconcilesPerResource: 3, journalBytes: 1_000_000 }

const reconcile = (sequence: number, name: string, more: Partial<Reconcile> = {}): Reconcile => ({
  sequence,
  operator: 'webapp-operator',
  controller: 'webapp',
  kind: 'WebApp',
  namespace: 'shop',
  name,
  reconcileId: `x-${sequence}`,
  causes: [],
  omittedCauses: 0,
  attempt: 1,
  startedMs: 0,
  waitedMs: 0,
  durationMs: 0,
  stages: [],
  writes: [],
  omittedWrites: 0,
  outcome: 'success',
  ...more,
})

const sequences = (list: readonly Reconcile[]) => list.map(({ sequence }) => sequence)

describe('the journal', () => {
  it('keeps the newest reconciles, overall and of each resource', () => {
    const journal = new Journal(limits)
    for (let sequence = 1; sequence <= 5; sequence++) journal.add(reconcile(sequence, 'busy'))
    expect(sequences(journal.list({ limit: 10 }))).toEqual([5, 4, 3])
    for (let sequence = 6; sequence <= 9; sequence++) journal.add(reconcile(sequence, `calm-${sequence}`))
    expect(sequences(journal.list({ limit: 10 }))).toEqual([9, 8, 7, 6, 5, 4])
    const busy = resourceId({ operator: 'webapp-operator', kind: 'WebApp', namespace: 'shop', name: 'busy' })
    expect(sequences(journal.list({ resource: busy, limit: 10 }))).toEqual([5, 4])
  })

  it('never exceeds its size, also when one reconcile alone does', () => {
    const journal = new Journal({ ...limits, journalBytes: 2_000 })
    for (let sequence = 1; sequence <= 20; sequence++) {
      journal.add(reconcile(sequence, 'web', { error: 'x'.repeat(500) }))
      expect(journal.bytes).toBeLessThanOrEqual(2_000)
    }
    journal.add(reconcile(21, 'web', { error: 'x'.repeat(5_000) }))
    expect([journal.size, journal.bytes]).toEqual([0, 0])
  })

  it('lists pages, and only those that wrote or failed', () => {
    const journal = new Journal(limits)
    const write = { verb: 'create', kind: 'Service', durationMs: 1 }
    journal.add(reconcile(1, 'a', { writes: [write] }))
    journal.add(reconcile(2, 'b'))
    journal.add(reconcile(3, 'c', { error: 'no' }))
    expect(sequences(journal.list({ isTelling: true, limit: 10 }))).toEqual([3, 1])
    expect(sequences(journal.list({ before: 3, limit: 1 }))).toEqual([2])
    expect(sequences(journal.list({ operator: 'other', limit: 10 }))).toEqual([])
  })
})
