/** Jobs and CronJobs from the user's view. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { pods, podTemplate } from './support/objects.ts'
import { exitsWith, runsFor } from './support/pod-behaviour.ts'
import { conditionsOf, labelled, settled } from './support/settling.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const batch = (resource: string) => `/apis/batch/v1/namespaces/${api.namespace}/${resource}`

describe.concurrent('a Job', () => {
  const job = (name: string, spec: Json = {}, annotations: Json = {}) => ({
    metadata: { name },
    spec: {
      template: podTemplate(name, {
        spec: { restartPolicy: 'Never' },
        metadata: { annotations, labels: { app: name } },
      }),
      ...spec,
    },
  })
  const has =
    (type: string) =>
    ({ status }: Json) =>
      (status.conditions ?? []).some((condition: Json) => condition.type === type && condition.status === 'True')

  it('runs its pods to completion', async () => {
    const name = unique('job')
    await api.create(batch('jobs'), job(name, { completions: 2, parallelism: 2 }))
    const complete = await settled(api, 'it is complete', `${batch('jobs')}/${name}`, has('Complete'))
    expect(complete.status).toMatchObject({
      succeeded: 2,
      startTime: expect.any(String),
      completionTime: expect.any(String),
    })
    expect(conditionsOf(complete)).toEqual([
      'Complete True CompletionsReached',
      'SuccessCriteriaMet True CompletionsReached',
    ])
    const own = await labelled(api, pods(api.namespace), name)
    expect(own.map(({ status }) => status.phase)).toEqual(['Succeeded', 'Succeeded'])
    expect(own[0].metadata.labels).toMatchObject({
      'job-name': name,
      'batch.kubernetes.io/job-name': name,
      'batch.kubernetes.io/controller-uid': complete.metadata.uid,
    })
  })

  it('adopts a matching pod without an owner, and releases one that no longer matches', async () => {
    const name = unique('job')
    await api.create(batch('jobs'), job(name, { parallelism: 2, completions: 4 }, runsFor('1h')))
    const own = await until('its pods run', async () => {
      const found = await labelled(api, pods(api.namespace), name)
      return found.length === 2 ? found : undefined
    })
    const path = `${pods(api.namespace)}/${own[0].metadata.name}`
    await api.patch(path, { metadata: { ownerReferences: null } })
    await settled(api, 'it is adopted', path, ({ metadata }) => metadata.ownerReferences?.[0].name === name)
    await api.patch(path, { metadata: { labels: null } })
    await settled(api, 'it is released', path, ({ metadata }) => metadata.ownerReferences === undefined)
    await until('it is replaced', async () => (await labelled(api, pods(api.namespace), name)).length === 2)
  })

  it('fails after more failures than its limit', async () => {
    const name = unique('job')
    await api.create(batch('jobs'), job(name, { backoffLimit: 0 }, exitsWith(3)))
    const failed = await settled(api, 'it has failed', `${batch('jobs')}/${name}`, has('Failed'))
    expect(failed.status).toMatchObject({ failed: 1 })
    expect(failed.status).not.toHaveProperty('completionTime')
    expect(conditionsOf(failed)).toEqual(
      ['FailureTarget True BackoffLimitExceeded', 'Failed True BackoffLimitExceeded'].sort(),
    )
    const [one] = await labelled(api, pods(api.namespace), name)
    expect(one.status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 3, reason: 'Error' } } }],
    })
  })

  it('that is suspended runs nothing until it is resumed', async () => {
    const name = unique('job')
    await api.create(batch('jobs'), job(name, { suspend: true }))
    await settled(api, 'it is suspended', `${batch('jobs')}/${name}`, has('Suspended'))
    expect(await labelled(api, pods(api.namespace), name)).toEqual([])
    await api.patch(`${batch('jobs')}/${name}`, { spec: { suspend: false } })
    const complete = await settled(api, 'it is complete', `${batch('jobs')}/${name}`, has('Complete'))
    expect(conditionsOf(complete)).toContain('Suspended False JobResumed')
  })

  it('with a time to live is deleted automatically', async () => {
    const name = unique('job')
    await api.create(batch('jobs'), job(name, { ttlSecondsAfterFinished: 0 }))
    await until('it is deleted', async () => (await api.get(`${batch('jobs')}/${name}`)).status === 404)
  })

  it('assigns an index to each pod in indexed mode', async () => {
    const name = unique('job')
    await api.create(batch('jobs'), job(name, { completions: 3, parallelism: 3, completionMode: 'Indexed' }))
    const { status } = await settled(api, 'it is complete', `${batch('jobs')}/${name}`, has('Complete'))
    expect(status.completedIndexes).toBe('0-2')
    const indexes = (await labelled(api, pods(api.namespace), name)).map(
      ({ metadata }) => metadata.annotations['batch.kubernetes.io/job-completion-index'],
    )
    expect(indexes.sort()).toEqual(['0', '1', '2'])
  })
})

describe.concurrent('a CronJob', () => {
  it('that is suspended starts nothing', async () => {
    const name = unique('cron')
    const template = podTemplate(name, { spec: { restartPolicy: 'Never' } })
    const { status } = await api.create(batch('cronjobs'), {
      metadata: { name },
      spec: {
        schedule: '* * * * *',
        suspend: true,
        jobTemplate: { metadata: { labels: { app: name } }, spec: { template } },
      },
    })
    expect(status).toEqual({})
    expect(await labelled(api, batch('jobs'), name)).toEqual([])
  })
})
