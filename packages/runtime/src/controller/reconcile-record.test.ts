import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { sleep } from '@reeve/http'
import { expect, test, vi } from 'vitest'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { controllerScenario } from '../testing/controller-scenario.ts'
import { Gadgets, gadget, Widgets, widget } from '../testing/fake-objects.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { RECONCILE_CHANNEL, type ReconcileRecord, RecordLog } from './reconcile-record.ts'

const key = (name: string) => ({ namespace: 'ns', name })

test('every reconcile leaves a record of why it ran, what it wrote and how long each stage took', async () => {
  const told: ReconcileRecord[] = []
  const { cluster, clock, stop, controller } = await controllerScenario({
    onReconcile: (record) => told.push(record),
    reconcile: async ({ client, clock: on, stage, key: { name } }) => {
      await stage('resolve', () => sleep(250, { clock: on }))
      expect(stage('render', () => 42)).toBe(42)
      await stage('apply', async () => {
        await client.create(Gadgets, gadget(name))
        await client.create(Gadgets, gadget(name)).catch(() => undefined)
        await client.create(Gadgets, gadget('dry'), { dryRun: true })
        await client.patch(Gadgets, key(name), { type: 'merge', patch: {} }, { subresource: 'status' })
      })
      await stage('resolve', () => sleep(50, { clock: on }))
      await stage('report', async () => {
        throw new Error('cannot report')
      })
    },
  })
  cluster.put(Widgets, widget('a'))
  await clock.advance(500)
  expect(controller.records).toEqual(told)
  expect(told[0]).toMatchObject({
    controller: 'widget',
    key: key('a'),
    reasons: [{ event: 'added', kind: 'Widget', namespace: 'ns', name: 'a' }],
    attempt: 1,
    waitedMs: 0,
    durationMs: 300,
    stages: [
      { name: 'resolve', durationMs: 300 },
      { name: 'render', durationMs: 0 },
      { name: 'apply', durationMs: 0 },
      { name: 'report', durationMs: 0 },
    ],
    writes: [
      { verb: 'create', kind: 'Gadget', namespace: 'ns', name: 'a', durationMs: 0 },
      { verb: 'create', kind: 'Gadget', namespace: 'ns', name: 'a', failure: 'AlreadyExists' },
      { verb: 'patch', kind: 'Gadget', namespace: 'ns', name: 'a', subresource: 'status' },
    ],
    outcome: 'error',
    error: 'cannot report',
    nextRunMs: Date.UTC(2030, 0, 1) + 300 + 1_000,
  })
  expect(told[0]?.writes).toHaveLength(3)
  await stop()
})

test('the next run counts from the end of the reconcile, however long scheduling takes', async () => {
  const { cluster, clock, stop, controller } = await controllerScenario({
    reconcile: async ({ clock: on }) => {
      const endMs = on.now()
      let looks = 0
      vi.spyOn(clock, 'now').mockImplementation(() => endMs + looks++)
      return { requeueAfterMs: 60_000 }
    },
  })
  cluster.put(Widgets, widget('a'))
  await clock.settle()
  vi.restoreAllMocks()
  const { nextRunMs = 0, startedMs = 0, durationMs = 0 } = controller.records[0] ?? {}
  expect(nextRunMs - startedMs - durationMs).toBe(60_000)
  await stop()
})

test('writes beyond fifty are counted, not kept', async () => {
  const { cluster, clock, stop, controller } = await controllerScenario({
    reconcile: async ({ client }) => {
      for (let gadgets = 0; gadgets < 60; gadgets++) await client.apply(Gadgets, gadget(`g-${gadgets}`))
    },
  })
  cluster.put(Widgets, widget('a'))
  await clock.settle()
  expect(controller.records[0]?.writes).toHaveLength(50)
  expect(controller.records[0]?.omittedWrites).toBe(10)
  await stop()
})

test('a hook that throws is logged and has no other effect', async () => {
  const logger = recordingLogger()
  const { cluster, clock, stop, controller } = await controllerScenario(
    {
      onReconcile: () => {
        throw new Error('hook')
      },
    },
    { logger },
  )
  cluster.put(Widgets, widget('a'))
  await clock.settle()
  cluster.put(Widgets, widget('a', 2))
  await clock.settle()
  expect(controller.records).toHaveLength(2)
  expect(logger.lines.filter(({ message }) => message === 'onReconcile failed')).toHaveLength(2)
  await stop()
})

test('every record is published on the diagnostics channel of the process', async () => {
  const published: unknown[] = []
  const listen = (record: unknown) => published.push(record)
  subscribe(RECONCILE_CHANNEL, listen)
  const { cluster, clock, stop, controller } = await controllerScenario({})
  cluster.put(Widgets, widget('a'))
  await clock.settle()
  unsubscribe(RECONCILE_CHANNEL, listen)
  expect(published).toEqual(controller.records)
  expect(published).toHaveLength(1)
  await stop()
})

test('the log of records keeps the newest, oldest first', () => {
  const log = new RecordLog(3)
  const record = (reconcileId: string) => ({ reconcileId }) as ReconcileRecord // only the id matters here
  expect(log.list()).toEqual([])
  for (const id of ['1', '2', '3', '4', '5']) log.add(record(id))
  expect(log.list().map(({ reconcileId }) => reconcileId)).toEqual(['3', '4', '5'])
})

test('metrics count results under the known names', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  const { cluster, clock, stop } = await controllerScenario(
    {
      concurrency: 4,
      reconcile: async ({ attempt, clock: on }) => {
        await sleep(2_000, { clock: on })
        if (attempt === 1) throw new Error('first time')
        return { requeueAfterMs: 1_000_000 }
      },
    },
    { metrics },
  )
  cluster.put(Widgets, widget('a'))
  await clock.advance(1_000)
  expect(await metrics.expose()).toContain('controller_runtime_active_workers{controller="widget"} 1')
  await clock.advance(10_000)
  const text = await metrics.expose()
  for (const line of [
    'controller_runtime_reconcile_total{controller="widget",result="error"} 1',
    'controller_runtime_reconcile_total{controller="widget",result="requeue_after"} 1',
    'controller_runtime_reconcile_total{controller="widget",result="success"} 0',
    'reconcile_total{controller="widget",result="error"} 1',
    'controller_runtime_reconcile_errors_total{controller="widget"} 1',
    'reconcile_errors_total{controller="widget"} 1',
    'controller_runtime_reconcile_time_seconds_sum{controller="widget"} 4',
    'reconcile_duration_seconds_count{controller="widget"} 2',
    'controller_runtime_max_concurrent_reconciles{controller="widget"} 4',
    'controller_runtime_active_workers{controller="widget"} 0',
    'workqueue_retries_total{name="widget"} 1',
  ]) {
    expect(text).toContain(line)
  }
  await stop()
})
