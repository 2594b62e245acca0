import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findCondition } from './conditions.ts'
import type { Draft } from './kinds/meta.ts'
import type { Pod, PodSpec } from './kinds/pods.ts'
import type { Job, JobSpec } from './kinds/workloads.ts'
import { podTemplate } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ podRunDurationMs: 10_000 })
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

const jobs = () => cluster.of<Job>('jobs.batch')

interface JobOptions extends Partial<Omit<JobSpec, 'template'>> {
  annotations?: Record<string, string>
  pod?: Partial<PodSpec>
}

async function create({ annotations = {}, pod = {}, ...spec }: JobOptions = {}): Promise<void> {
  const draft: Draft<Job> = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'default' },
    spec: {
      completions: 1,
      parallelism: 1,
      template: podTemplate({ labels: { app: 'j' }, annotations, spec: { restartPolicy: 'Never', ...pod } }),
      ...spec,
    },
  }
  await jobs().create(draft)
  await cluster.settle()
}

function job(): Job {
  const found = jobs().get('default', 'j')
  if (found === undefined) throw new Error('the Job does not exist')
  return found
}

const condition = (type: string) => findCondition(job().status?.conditions, type)
const pods = () => cluster.pods.list()
const failing = { 'simulator.reeve.dev/exit-code': '1' }

describe('a Job', () => {
  it.each([
    ['NonIndexed', 2_147_483_647],
    ['Indexed', 100_000],
  ] as const)('that is %s and of the largest size creates pods in batches', async (completionMode, parallelism) => {
    await cluster.stop()
    cluster = await startTestCluster({}, { maxObjects: 150 })
    await create({ completionMode, parallelism, completions: 2_147_483_647 })
    await cluster.advance(1_000)
    expect(pods().length).toBeGreaterThan(50)
    expect(cluster.problems.splice(0).length).toBeGreaterThan(0)
  })

  it('runs its pod and completes', async () => {
    await create()
    expect(job().status).toMatchObject({ active: 1, startTime: expect.any(String) })
    await cluster.advance(20_000)
    expect(job().status).toMatchObject({ succeeded: 1, completionTime: expect.any(String), ready: 0 })
    expect(job().status?.active).toBeUndefined()
    expect(condition('SuccessCriteriaMet')?.reason).toBe('CompletionsReached')
    expect(condition('Complete')).toMatchObject({ status: 'True', reason: 'CompletionsReached' })
    expect(pods()).toHaveLength(1)
    expect(pods()[0]?.metadata.finalizers ?? []).toEqual([])
    const { writes } = cluster.api
    await cluster.advance(24 * 3_600_000)
    expect(cluster.api.writes).toBe(writes)
    expect(cluster.clock.pendingTimers).toBe(0)
  })

  it('runs at most the configured number of pods concurrently, until enough have succeeded', async () => {
    await create({ completions: 5, parallelism: 2 })
    let most = 0
    cluster.api.subscribe(() => {
      most = Math.max(most, pods().filter(({ status }) => status?.phase === 'Running').length)
    })
    await cluster.advance(60_000)
    expect(most).toBe(2)
    expect(job().status).toMatchObject({ succeeded: 5 })
    expect(pods()).toHaveLength(5)
  })

  it('without completions completes when one pod succeeded and the others have terminated', async () => {
    const draft: Draft<Job> = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', namespace: 'default' },
      spec: { parallelism: 3, template: podTemplate({ spec: { restartPolicy: 'Never' } }) },
    }
    await jobs().create(draft)
    await cluster.advance(60_000)
    expect(condition('Complete')?.status).toBe('True')
    expect(job().status?.succeeded).toBe(3)
    expect(pods()).toHaveLength(3)
  })

  it('adds a finalizer to its pods and counts each of them once, even if they are deleted', async () => {
    await create({ completions: 3, parallelism: 1 })
    expect(pods()[0]?.metadata).toMatchObject({
      labels: { 'batch.kubernetes.io/job-name': 'j', 'job-name': 'j' },
      finalizers: ['batch.kubernetes.io/job-tracking'],
    })
    for (let round = 0; round < 3; round++) {
      await cluster.advance(11_500)
      for (const pod of pods().filter(({ status }) => status?.phase === 'Succeeded')) await cluster.pods.delete(pod)
    }
    await cluster.advance(20_000)
    expect(job().status).toMatchObject({ succeeded: 3 })
    expect(job().status?.failed).toBeUndefined()
    expect(condition('Complete')?.status).toBe('True')
  })

  it('counts correctly when the simulator restarts repeatedly', async () => {
    await create({ completions: 4, parallelism: 2 })
    for (let second = 0; second < 40; second++) {
      await cluster.advance(1_000)
      await cluster.restart()
    }
    expect(job().status).toMatchObject({ succeeded: 4 })
    expect(condition('Complete')?.status).toBe('True')
  })

  it('assigns an index to every completion when it is indexed', async () => {
    await create({ completions: 3, parallelism: 3, completionMode: 'Indexed' })
    const indexes = pods().map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index'])
    expect(indexes.sort()).toEqual(['0', '1', '2'])
    expect(pods()[0]?.spec).toMatchObject({
      hostname: 'j-0',
      containers: [{ env: [{ name: 'JOB_COMPLETION_INDEX' }] }],
    })
    await cluster.advance(30_000)
    expect(job().status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' })
    expect(condition('Complete')?.status).toBe('True')
  })
})

describe('a Job whose pods fail', () => {
  it('retries with increasing delays until the limit, and then fails', async () => {
    await create({ backoffLimit: 2, annotations: failing })
    await cluster.advance(15_000)
    expect(pods()).toHaveLength(1)
    await cluster.advance(10_000)
    expect(pods()).toHaveLength(2)
    await cluster.advance(120_000)
    expect(pods()).toHaveLength(3)
    expect(job().status).toMatchObject({ failed: 3 })
    expect(condition('Failed')).toMatchObject({ status: 'True', reason: 'BackoffLimitExceeded' })
    expect(condition('FailureTarget')?.status).toBe('True')
    expect(condition('Complete')).toBeUndefined()
    expect(cluster.clock.pendingTimers).toBe(0)
  })

  it('counts restarts in place when the policy is OnFailure', async () => {
    await create({ backoffLimit: 2, annotations: failing, pod: { restartPolicy: 'OnFailure' } })
    await cluster.advance(600_000)
    expect(condition('Failed')).toMatchObject({ status: 'True', reason: 'BackoffLimitExceeded' })
    expect(pods()).toHaveLength(0)
  })

  it('completes after failures below the limit', async () => {
    await create()
    const [first] = pods()
    if (first === undefined) throw new Error('no pod')
    await cluster.pods.updateStatus(first, { ...first.status, phase: 'Failed' })
    await cluster.advance(60_000)
    expect(job().status).toMatchObject({ failed: 1, succeeded: 1 })
    expect(condition('Complete')?.status).toBe('True')
  })

  it('replaces a deleted pod and counts it as failed', async () => {
    await create()
    await cluster.advance(5_000)
    const [first] = pods()
    if (first === undefined) throw new Error('no pod')
    await cluster.pods.delete(first)
    await cluster.advance(60_000)
    expect(job().status).toMatchObject({ failed: 1, succeeded: 1 })
  })
})

/** Fails the running pods whose index is concerned; the others run on. */
async function fail(isConcerned: (index: number) => boolean, exitCode = 1): Promise<void> {
  for (const pod of pods()) {
    const index = Number(pod.metadata.annotations?.['batch.kubernetes.io/job-completion-index'] ?? 0)
    if (pod.status?.phase !== 'Running' || !isConcerned(index)) continue
    const containerStatuses = (pod.status.containerStatuses ?? []).map((status) => ({
      ...status,
      state: { terminated: { exitCode, reason: 'Error', startedAt: null, finishedAt: null } },
    }))
    await cluster.pods.updateStatus(pod, { ...pod.status, phase: 'Failed', containerStatuses } as never)
  }
  await cluster.settle()
}

describe('a Job with a limit for each index', () => {
  const isOdd = (index: number) => index % 2 === 1

  it('runs all indexes although some fail, and then fails with a list of them', async () => {
    const annotations = { 'simulator.reeve.dev/run-for': '60s' }
    await create({ completions: 4, parallelism: 4, completionMode: 'Indexed', backoffLimitPerIndex: 1, annotations })
    await cluster.advance(5_000)
    await fail(isOdd)
    await cluster.advance(15_000)
    const failures = pods().map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'])
    expect(failures.sort()).toEqual(['0', '0', '0', '0', '1', '1'])
    await fail(isOdd)
    await cluster.advance(120_000)
    expect(job().status).toMatchObject({ succeeded: 2, failed: 4, completedIndexes: '0,2', failedIndexes: '1,3' })
    expect(condition('Failed')).toMatchObject({ status: 'True', reason: 'FailedIndexes' })
    expect(pods().flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
    expect(cluster.clock.pendingTimers).toBe(0)
  })

  it('counts failures of pods that are deleted before they are replaced', async () => {
    await create({ completions: 1, parallelism: 1, completionMode: 'Indexed', backoffLimitPerIndex: 0 })
    await cluster.advance(5_000)
    for (const pod of pods()) await cluster.pods.delete(pod)
    await cluster.advance(60_000)
    expect(job().status).toMatchObject({ failed: 1, failedIndexes: '0' })
    expect(condition('Failed')?.reason).toBe('FailedIndexes')
  })

  it('stops when more indexes have failed than allowed', async () => {
    const spec = { completions: 4, parallelism: 1, completionMode: 'Indexed', annotations: failing }
    await create({ ...spec, backoffLimitPerIndex: 0, maxFailedIndexes: 0 })
    await cluster.advance(60_000)
    expect(job().status).toMatchObject({ failed: 1, failedIndexes: '0' })
    expect(condition('Failed')?.reason).toBe('MaxFailedIndexesExceeded')
    expect(pods()).toHaveLength(1)
  })

  it('counts correctly when the simulator restarts repeatedly', async () => {
    await create({
      completions: 2,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 2,
      annotations: failing,
    })
    for (let second = 0; second < 120; second++) {
      await cluster.advance(1_000)
      await cluster.restart()
    }
    expect(job().status).toMatchObject({ failed: 6, failedIndexes: '0-1' })
  })
})

describe('the failure policy of a Job', () => {
  const onExitCode = (action: 'FailJob' | 'FailIndex' | 'Ignore' | 'Count', values: number[], operator = 'In') => ({
    action,
    onExitCodes: { operator: operator as 'In' | 'NotIn', values },
  })

  it('fails the Job at an exit code that no repetition mends', async () => {
    await create({ podFailurePolicy: { rules: [onExitCode('Count', [1]), onExitCode('FailJob', [1, 42])] } })
    await cluster.advance(5_000)
    await fail(() => true, 42)
    await cluster.advance(10_000)
    expect(condition('Failed')).toMatchObject({
      reason: 'PodFailurePolicy',
      message: expect.stringContaining('exit code 42 of container'),
    })
    expect(job().status).toMatchObject({ failed: 1 })
  })

  it('ignores failures, which neither count nor delay the next pod', async () => {
    await create({ backoffLimit: 0, podFailurePolicy: { rules: [onExitCode('Ignore', [1], 'NotIn')] } })
    await cluster.advance(5_000)
    await fail(() => true, 42)
    await cluster.advance(30_000)
    expect(pods()).toHaveLength(2)
    expect(job().status).toMatchObject({ succeeded: 1 })
    expect(job().status?.failed).toBeUndefined()
    expect(pods().flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
  })

  it('ignores evicted pods by their condition', async () => {
    const rules = [{ action: 'Ignore' as const, onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }]
    await create({ backoffLimit: 0, podFailurePolicy: { rules } })
    await cluster.advance(5_000)
    const [pod] = pods()
    if (pod === undefined) throw new Error('no pod')
    const conditions = [...(pod.status?.conditions ?? []), { type: 'DisruptionTarget', status: 'True' as const }]
    await cluster.pods.updateStatus(pod, { ...pod.status, conditions, phase: 'Failed' })
    await cluster.advance(30_000)
    expect(condition('Complete')?.status).toBe('True')
  })

  it('fails an index at once, and replaces a deleted pod when it has terminated', async () => {
    await create({
      completions: 2,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 3,
      podFailurePolicy: { rules: [onExitCode('FailIndex', [1])] },
    })
    await cluster.advance(5_000)
    await fail((index) => index === 1)
    for (const pod of pods().filter(({ status }) => status?.phase === 'Running')) await cluster.pods.delete(pod)
    await cluster.advance(60_000)
    expect(job().status).toMatchObject({ failedIndexes: '1', completedIndexes: '0' })
    expect(condition('Failed')?.reason).toBe('FailedIndexes')
  })
})

describe('the success policy of a Job', () => {
  const isNot = (wanted: number) => (index: number) => index !== wanted

  it.each([
    ['the listed indexes have succeeded', { succeededIndexes: '0' }],
    ['enough indexes have succeeded', { succeededCount: 1 }],
    ['enough of the listed indexes have succeeded', { succeededIndexes: '0-1', succeededCount: 1 }],
  ])('completes it when %s', async (_, rule) => {
    const spec = { completions: 2, parallelism: 2, completionMode: 'Indexed', backoffLimit: 10 }
    await create({ ...spec, successPolicy: { rules: [{ succeededIndexes: '1' }, rule] } })
    await cluster.advance(5_000)
    await fail(isNot(0))
    await cluster.advance(60_000)
    expect(condition('Complete')).toMatchObject({ status: 'True', reason: 'SuccessPolicy' })
    expect(condition('SuccessCriteriaMet')?.reason).toBe('SuccessPolicy')
    expect(job().status).toMatchObject({ completedIndexes: '0', succeeded: 1 })
    expect(job().status?.active).toBeUndefined()
  })
})

describe('a Job that runs too long', () => {
  it('is stopped at its deadline', async () => {
    await create({ activeDeadlineSeconds: 30, annotations: { 'simulator.reeve.dev/run-for': 'forever' } })
    await cluster.advance(29_000)
    expect(condition('Failed')).toBeUndefined()
    await cluster.advance(10_000)
    expect(condition('Failed')).toMatchObject({ status: 'True', reason: 'DeadlineExceeded' })
    expect(pods()).toHaveLength(0)
  })

  it('waits for its pods to stop before it fails', async () => {
    const annotations = { 'simulator.reeve.dev/run-for': 'forever', 'simulator.reeve.dev/stop-delay': '20s' }
    await create({ activeDeadlineSeconds: 30, annotations })
    await cluster.advance(40_000)
    expect(condition('FailureTarget')?.status).toBe('True')
    expect(condition('Failed')).toBeUndefined()
    await cluster.advance(20_000)
    expect(condition('Failed')?.status).toBe('True')
  })
})

describe('a Job that is suspended', () => {
  it('has no pods until it is resumed, and its deleted pods do not count as failed', async () => {
    await create({ suspend: true, backoffLimit: 0 })
    await cluster.advance(10_000)
    expect(pods()).toHaveLength(0)
    expect(condition('Suspended')?.status).toBe('True')
    expect(job().status?.startTime).toBeUndefined()
    const setSuspend = (suspend: boolean) =>
      cluster.change<Job>('jobs.batch', 'default/j', (object) => ({ ...object, spec: { ...object.spec, suspend } }))
    await setSuspend(false)
    await cluster.advance(5_000)
    expect(pods()).toHaveLength(1)
    await setSuspend(true)
    await cluster.advance(10_000)
    expect(pods()).toHaveLength(0)
    await setSuspend(false)
    await cluster.advance(60_000)
    expect(condition('Complete')?.status).toBe('True')
    expect(condition('Suspended')).toMatchObject({ status: 'False', reason: 'JobResumed' })
    expect(job().status?.failed).toBeUndefined()
  })
})

describe('a finished Job', () => {
  it('is deleted with its pods after its time to live', async () => {
    await create({ ttlSecondsAfterFinished: 60 })
    await cluster.advance(30_000)
    expect(condition('Complete')?.status).toBe('True')
    await cluster.advance(60_000)
    expect(jobs().list()).toHaveLength(0)
    expect(pods()).toHaveLength(0)
  })

  it('deletes its running pods when it is deleted', async () => {
    await create({ parallelism: 2, completions: 2 })
    await cluster.advance(3_000)
    await jobs().delete(job(), { propagationPolicy: 'Background' })
    await cluster.advance(10_000)
    expect(pods().map((pod: Pod) => pod.metadata.name)).toEqual([])
  })
})
