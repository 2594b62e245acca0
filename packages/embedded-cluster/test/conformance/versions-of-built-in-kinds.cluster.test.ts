/** Built-in kinds with two versions or groups: autoscalers and events. */
import { describe, expect, it } from 'vitest'
import { resourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'

const api = ConformanceApi.forThisFile()
const v1 = resourceOf(api, 'autoscaling/v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers')
const v2 = v1.at({ apiVersion: 'autoscaling/v2' })
const coreEvents = resourceOf(api, 'v1', 'Event', 'events')
const events = coreEvents.at({ apiVersion: 'events.k8s.io/v1' })

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const cpu = (averageUtilization: number): Json => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})
const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } },
}

describe('an autoscaler', () => {
  it('created in v1 has its one metric in v2', async () => {
    const name = unique('scaler')
    await v1.given(name, { spec: { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 50 } })
    const { body } = await v2.get(name)
    expect(body.spec).toEqual({ scaleTargetRef, minReplicas: 1, maxReplicas: 5, metrics: [cpu(50)] })
    expect(body.status).toEqual({ desiredReplicas: 0, currentMetrics: null })
  })

  it.each(['merge', 'strategic'] as const)('created in v1 supports a %s patch in v2', async (type) => {
    const name = unique('scaler')
    await v1.given(name, { spec: { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 50 } })
    const { status, body } = await v2.patch(type, name, { spec: { maxReplicas: 7 } })
    expect(status).toBe(200)
    expect(body.spec).toMatchObject({ maxReplicas: 7, metrics: [cpu(50)] })
    expect((await v1.get(name)).body.spec).toMatchObject({ maxReplicas: 7, targetCPUUtilizationPercentage: 50 })
  })

  it('created in v1 can be applied in v2', async () => {
    const name = unique('scaler')
    await v1.given(name, { spec: { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 50 } })
    const spec = { scaleTargetRef, minReplicas: 2, maxReplicas: 9 }
    const { status, body } = await v2.apply('alice', name, { spec }, { query: 'force=true' })
    expect(status).toBe(200)
    expect(body.spec).toEqual({ ...spec, metrics: [cpu(50)] })
  })

  it('keeps fields that v1 does not have in annotations, also through a write in v1', async () => {
    const name = unique('scaler')
    const behavior = { scaleDown: { stabilizationWindowSeconds: 10 } }
    const created = await v2.given(name, {
      spec: { scaleTargetRef, maxReplicas: 5, behavior, metrics: [memory, cpu(30)] },
    })
    const { body } = await v1.patch('merge', name, { spec: { maxReplicas: 6 } })
    expect(body.spec).toMatchObject({ maxReplicas: 6, targetCPUUtilizationPercentage: 30 })
    const { annotations } = body.metadata
    expect(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/metrics'])).toEqual([
      { type: 'Resource', resource: { name: 'memory', targetAverageValue: '100Mi' } },
    ])
    expect(annotations['autoscaling.alpha.kubernetes.io/behavior']).toContain('"StabilizationWindowSeconds":10')
    const read = (await v2.get(name)).body
    expect(read.spec).toEqual({ ...created.spec, maxReplicas: 6 })
    expect(read.metadata).not.toHaveProperty('annotations')
  })

  it('has its status in both versions', async () => {
    const name = unique('scaler')
    await v2.given(name, { spec: { scaleTargetRef, maxReplicas: 5 } })
    const conditions = [
      { type: 'AbleToScale', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', reason: 'R', message: 'm' },
    ]
    const current = { averageUtilization: 40, averageValue: '10m' }
    const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', current } }]
    const status = { currentReplicas: 1, desiredReplicas: 2, conditions, currentMetrics }
    await v2.patch('merge', name, { status }, { subresource: 'status' })
    const { body } = await v1.get(name)
    expect(body.status).toEqual({ currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 40 })
    expect(JSON.parse(body.metadata.annotations['autoscaling.alpha.kubernetes.io/conditions'])).toEqual(conditions)
    expect((await v2.get(name)).body.status).toEqual(status)
  })
})

describe('an event', () => {
  const event = () => ({
    involvedObject: { kind: 'Pod', name: 'web', namespace: api.namespace },
    reason: 'Started',
    message: 'It runs',
    type: 'Normal',
    source: { component: 'kubelet', host: 'node' },
    firstTimestamp: '2024-01-01T00:00:00Z',
    lastTimestamp: '2024-01-01T00:00:00Z',
    count: 1,
  })

  it('of the core group without a reporter has none in events.k8s.io', async () => {
    const name = unique('event')
    await coreEvents.given(name, event())
    const { body } = await events.get(name)
    expect(body).toMatchObject({ regarding: { name: 'web' }, note: 'It runs', deprecatedCount: 1 })
    expect(body).not.toHaveProperty('reportingController')
    expect(body).not.toHaveProperty('reportingInstance')
  })

  it('of the core group can be labelled through events.k8s.io', async () => {
    const name = unique('event')
    await coreEvents.given(name, event())
    const { status } = await events.patch('merge', name, { metadata: { labels: { a: 'b' } } })
    expect(status).toBe(200)
    expect((await coreEvents.get(name)).body.metadata.labels).toEqual({ a: 'b' })
  })

  it('has the same table in both groups', async () => {
    const name = unique('event')
    await events.given(name, {
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'example.com/reporter',
      reportingInstance: 'one',
      action: 'Start',
      reason: 'Started',
      type: 'Normal',
      note: 'It runs',
      regarding: event().involvedObject,
    })
    const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }
    const cells = async (from: typeof events) => (await from.get(name, { headers })).body.rows[0].cells
    const shown = await cells(events)
    expect(shown.slice(1, 7)).toEqual(['Normal', 'Started', 'pod/web', '', 'example.com/reporter, one', 'It runs'])
    expect(shown).toEqual(await cells(coreEvents))
  })
})
