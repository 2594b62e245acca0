import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import { expect, it } from 'vitest'
import type { OperatorUnderTest, PlainObject } from '../operator-under-test.ts'
import { FOREIGN_CONDITION, FOREIGN_FINALIZER, takeSnapshot } from './snapshot.ts'

function snapshotOf(object: PlainObject): PlainObject | undefined {
  // Only what a snapshot reads.
  const cluster = { api: { list: () => [object] } } as unknown as EmbeddedCluster
  const snapshot = takeSnapshot({
    cluster,
    ledger: { entry: () => undefined, isAlive: () => true },
    worlds: [],
    operator: {} as OperatorUnderTest,
    scale: { startMs: 0, steps: [] } as never,
    resources: new Set(['notes.example.com']),
    others: [],
    withoutForeign: (_resource, one) => one,
  })
  return snapshot.get('notes.example.com default/shop')
}

const note = (metadata: PlainObject, conditions: readonly PlainObject[]) => ({
  metadata: { namespace: 'default', name: 'shop', ...metadata },
  status: { conditions },
})
const ready = { type: 'Ready', status: 'True' }
const synced = { type: 'Synced', status: 'True' }

it('a snapshot does not depend on the order of conditions', () => {
  expect(snapshotOf(note({}, [ready, synced]))).toEqual(snapshotOf(note({}, [synced, ready])))
  expect(snapshotOf(note({}, [ready]))).not.toEqual(snapshotOf(note({}, [synced])))
})

it('a snapshot leaves out what the exploration wrote in the name of someone else, and how often a workload was changed', () => {
  const marked = note(
    {
      finalizers: ['example.com/own', FOREIGN_FINALIZER],
      annotations: { 'deprecated.daemonset.template.generation': '2' },
    },
    [ready, { type: FOREIGN_CONDITION, status: 'True' }],
  )
  expect(snapshotOf(marked)).toEqual(snapshotOf(note({ finalizers: ['example.com/own'] }, [ready])))
})
