import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Draft } from './kinds/meta.ts'
import type { CronJob, Job } from './kinds/workloads.ts'
import { podTemplate } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

const MINUTE = 60_000

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ podRunDurationMs: 10_000 })
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

interface Options extends Partial<Omit<CronJob['spec'], 'jobTemplate'>> {
  annotations?: Record<string, string>
}

async function create({ annotations = {}, ...spec }: Options = {}): Promise<void> {
  const template = podTemplate({ annotations, spec: { restartPolicy: 'Never' } })
  const draft: Draft<CronJob> = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c', namespace: 'default' },
    spec: {
      schedule: '*/10 * * * *',
      jobTemplate: {
        metadata: { labels: { app: 'c' } },
        spec: { completions: 1, parallelism: 1, backoffLimit: 0, template },
      },
      ...spec,
    },
  }
  await cluster.of<CronJob>('cronjobs.batch').create(draft)
  await cluster.settle()
}

function cronJob(): CronJob {
  const found = cluster.of<CronJob>('cronjobs.batch').get('default', 'c')
  if (found === undefined) throw new Error('the CronJob does not exist')
  return found
}

const change = (spec: Partial<CronJob['spec']>) =>
  cluster.change<CronJob>('cronjobs.batch', 'default/c', (object) => ({ ...object, spec: { ...object.spec, ...spec } }))

const jobs = () => cluster.of<Job>('jobs.batch').list()
const forever = { 'simulator.reeve.dev/run-for': 'forever' }

describe('a CronJob', () => {
  it('creates a Job at each scheduled time, with only one timer in between', async () => {
    await create()
    expect(jobs()).toHaveLength(0)
    await cluster.advance(9 * MINUTE)
    expect(jobs()).toHaveLength(0)
    await cluster.advance(MINUTE)
    const minutes = Date.parse('2030-01-01T00:10:00Z') / MINUTE
    expect(jobs()).toMatchObject([
      {
        metadata: {
          name: `c-${minutes}`,
          labels: { app: 'c' },
          annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2030-01-01T00:10:00Z' },
          ownerReferences: [{ kind: 'CronJob', name: 'c', controller: true }],
        },
      },
    ])
    expect(cronJob().status).toMatchObject({ lastScheduleTime: '2030-01-01T00:10:00Z', active: [{ kind: 'Job' }] })
    await cluster.advance(5 * MINUTE)
    expect(cronJob().status?.active).toBeUndefined()
    expect(cronJob().status?.lastSuccessfulTime).toMatch(/^2030-01-01T00:10:1/)
    expect(cluster.clock.pendingTimers).toBe(1)
    await cluster.advance(5 * MINUTE)
    expect(jobs()).toHaveLength(2)
  })

  it('keeps the newest Jobs up to its limits', async () => {
    await create({ successfulJobsHistoryLimit: 2 })
    await cluster.advance(65 * MINUTE)
    expect(jobs().map(({ status }) => status?.startTime)).toEqual(['2030-01-01T00:50:00Z', '2030-01-01T01:00:00Z'])
    expect(cluster.pods.list()).toHaveLength(2)
  })

  it('keeps one failed Job by default', async () => {
    await create({ annotations: { 'simulator.reeve.dev/exit-code': '1' } })
    await cluster.advance(65 * MINUTE)
    expect(jobs()).toHaveLength(1)
    expect(cronJob().status?.lastSuccessfulTime).toBeUndefined()
  })

  it('starts nothing while it is suspended, and does not catch up', async () => {
    await create({ suspend: true, startingDeadlineSeconds: 30 })
    await cluster.advance(25 * MINUTE)
    expect(jobs()).toHaveLength(0)
    expect(cluster.clock.pendingTimers).toBe(0)
    await change({ suspend: false })
    await cluster.settle()
    expect(jobs()).toHaveLength(0)
    await cluster.advance(5 * MINUTE)
    expect(jobs()).toHaveLength(1)
  })

  it('starts only the latest of the runs it missed while the controller was stopped', async () => {
    await create()
    await cluster.stop()
    await cluster.advance(24 * 60 * MINUTE + MINUTE)
    await cluster.restart()
    expect(
      jobs().map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']),
    ).toEqual(['2030-01-02T00:00:00Z'])
  })

  it('uses a changed schedule', async () => {
    await create()
    await change({ schedule: '0 * * * *' })
    await cluster.advance(59 * MINUTE)
    expect(jobs()).toHaveLength(0)
    await cluster.advance(MINUTE)
    expect(jobs()).toHaveLength(1)
  })

  it('deletes its Jobs and pods when it is deleted', async () => {
    await create()
    await cluster.advance(15 * MINUTE)
    await cluster.of<CronJob>('cronjobs.batch').delete(cronJob())
    await cluster.advance(MINUTE)
    expect(jobs()).toHaveLength(0)
    expect(cluster.pods.list()).toHaveLength(0)
    expect(cluster.clock.pendingTimers).toBe(0)
  })
})

describe('while the previous run is active, a CronJob', () => {
  it('starts another one if the policy is Allow', async () => {
    await create({ annotations: forever, concurrencyPolicy: 'Allow' })
    await cluster.advance(25 * MINUTE)
    expect(jobs()).toHaveLength(2)
    expect(cronJob().status?.active).toHaveLength(2)
  })

  it('waits for it if the policy is Forbid, and then catches up', async () => {
    await create({ annotations: { 'simulator.reeve.dev/run-for': '15m' }, concurrencyPolicy: 'Forbid' })
    await cluster.advance(24 * MINUTE)
    expect(jobs()).toHaveLength(1)
    await cluster.advance(2 * MINUTE)
    expect(jobs()).toHaveLength(2)
  })

  it('replaces it if the policy is Replace', async () => {
    await create({ annotations: forever, concurrencyPolicy: 'Replace' })
    await cluster.advance(15 * MINUTE)
    const [first] = jobs()
    await cluster.advance(10 * MINUTE)
    expect(jobs()).toHaveLength(1)
    expect(jobs()[0]?.metadata.uid).not.toBe(first?.metadata.uid)
    expect(cluster.pods.list()).toHaveLength(1)
  })
})
