import { SimulatedClock } from '@reeve/http/testing'
import type { KubeObject } from '@reeve/kube'
import { expect, test } from 'vitest'
import type { ObservedWrite } from '../client/reconcile-client.ts'
import type { ReconcileRecord } from '../controller/reconcile-record.ts'
import type { Occurrence } from '../events/event-series.ts'
import { FakeCluster } from '../testing/fake-cluster.ts'
import { Gadgets, gadget, Widgets, widget } from '../testing/fake-objects.ts'
import { defineOperator } from './define-operator.ts'
import type { ObservedOperator, OperatorObserver } from './operator-observer.ts'

const key = { namespace: 'ns', name: 'a' }

const operator = defineOperator({
  name: 'observed-operator',
  controllers: [
    {
      for: Widgets,
      owns: [Gadgets],
      reconcile: async ({ client, events, object }) => {
        if (object !== undefined) events.record(object, { reason: 'Begun', message: 'it begins' })
        await client.create(Gadgets, gadget('a'))
        await client.patch(Gadgets, key, { type: 'merge', patch: { metadata: { labels: { colour: 'red' } } } })
        await client.delete(Gadgets, key)
      },
    },
  ],
})

async function run(observer?: OperatorObserver): Promise<readonly ReconcileRecord[]> {
  const clock = new SimulatedClock()
  const cluster = new FakeCluster({ clock })
  cluster.put(Widgets, widget('a'))
  const records: ReconcileRecord[] = []
  const { manager } = operator.create({
    client: cluster.client,
    clock,
    observer,
    onReconcile: (record) => records.push(record),
  })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  await clock.runUntil(() => records.length > 0)
  stop.abort()
  await clock.runToCompletion(running)
  return records
}

function observerWith(describeWrite: OperatorObserver['describeWrite']) {
  const runs: string[] = []
  const events: string[] = []
  const server = {
    name: 'console',
    needsLeadership: false,
    run: async (signal: AbortSignal) => {
      runs.push('started')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      runs.push('stopped')
    },
  }
  const created: ObservedOperator[] = []
  const records: ReconcileRecord[] = []
  return {
    created: (one: ObservedOperator) => {
      created.push(one)
      return [server]
    },
    reconciled: (record: ReconcileRecord) => void records.push(record),
    recorded: (object: KubeObject, { reason }: Occurrence) => void events.push(`${object.metadata.name} ${reason}`),
    describeWrite,
    seen: { created, records, runs, events },
  }
}

test('an observer sees the operator, its reconciles, and both states of every write', async () => {
  const writes: ObservedWrite[] = []
  const observer = observerWith((write) => {
    writes.push(write)
    return [{ path: 'some.field', after: writes.length }]
  })
  const records = await run(observer)
  expect(observer.seen.created.map(({ name, controllers }) => [name, controllers.map((one) => one.name)])).toEqual([
    ['observed-operator', ['widget']],
  ])
  expect(observer.seen.records).toEqual(records)
  expect(observer.seen.runs).toEqual(['started', 'stopped'])
  expect(observer.seen.events).toEqual(['a Begun'])
  expect(writes.map(({ verb }) => verb)).toEqual(['create', 'patch', 'delete'])
  expect(writes.map(({ before }) => before?.metadata.labels?.colour)).toEqual([undefined, undefined, 'red'])
  expect(writes.map(({ before, after }) => [before?.metadata.name, after?.metadata.name])).toEqual([
    [undefined, 'a'],
    ['a', 'a'],
    ['a', undefined],
  ])
  expect(records[0]?.writes.map(({ changes }) => changes)).toEqual([
    [{ path: 'some.field', after: 1 }],
    [{ path: 'some.field', after: 2 }],
    [{ path: 'some.field', after: 3 }],
  ])
})

test('an observer that fails does not disturb the reconcile', async () => {
  const [record] = await run(
    observerWith(() => {
      throw new Error('a bug in the observer')
    }),
  )
  expect(record?.outcome).toBe('success')
  expect(record?.writes.map(({ verb, changes }) => [verb, changes])).toEqual([
    ['create', undefined],
    ['patch', undefined],
    ['delete', undefined],
  ])
})

test('nothing is compared while nobody observes', async () => {
  const [record] = await run()
  expect(record?.writes.map((write) => 'changes' in write)).toEqual([false, false, false])
})
