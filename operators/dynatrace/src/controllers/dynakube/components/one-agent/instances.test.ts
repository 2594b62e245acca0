import { SimulatedClock } from '@reeve/http/testing'
import type { Pod, Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec, DynaKubeStatus } from '../../../../api/latest.ts'
import { dynakube } from '../../../../api/testing/build.ts'
import type { DynaKubeContext } from '../../dynakube-component.ts'
import { KNOWN_STATUS } from '../../testing/render-input.ts'
import { reporterOf } from '../../testing/reporter.ts'
import { AGENT_PODS, instances, instancesDueMs } from './instances.ts'
import { oneAgentLabels } from './one-agent.ts'

const { all: labels } = oneAgentLabels(dynakube({ oneAgent: { hostMonitoring: {} } }))

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'dynatrace',
    name: 'dk-oneagent-1',
    uid: 'uid',
    resourceVersion: '7',
    creationTimestamp: '2030-01-01T00:00:00Z',
    labels,
    annotations: { note: 'long' },
  },
  spec: { nodeName: 'node-1', containers: [{ name: 'agent', image: 'agent' }] },
  status: { hostIP: '10.0.0.1', podIP: '10.0.0.1', phase: 'Running' },
}

describe('the pods of agents', () => {
  it('are found by labels that all of them carry', () => {
    const wanted = AGENT_PODS.labelSelector.split(',')
    expect(Object.entries(labels).map(([name, value]) => `${name}=${value}`)).toEqual(expect.arrayContaining(wanted))
  })

  it('are kept with their identity, their labels and their addresses, and nothing else', () => {
    expect(AGENT_PODS.transform(pod)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: 'dynatrace',
        name: 'dk-oneagent-1',
        uid: 'uid',
        resourceVersion: '7',
        creationTimestamp: '2030-01-01T00:00:00Z',
        labels,
      },
      spec: { nodeName: 'node-1' },
      status: { hostIP: '10.0.0.1' },
    })
  })
})

describe('a change of the pod of an agent', () => {
  // Nothing that a server adds is read.
  const stored = pod as Stored<Pod>
  const modified = (change: Partial<Pod>) =>
    AGENT_PODS.predicate({ type: 'modified', previous: stored, object: { ...stored, ...change } as Stored<Pod> })

  it('reconciles when the status would list it differently', () => {
    expect(AGENT_PODS.predicate({ type: 'added', object: stored })).toBe(true)
    expect(AGENT_PODS.predicate({ type: 'deleted', object: stored })).toBe(true)
    expect(modified({ spec: { nodeName: 'node-2', containers: [] } })).toBe(true)
    expect(modified({ status: { hostIP: '10.0.0.2' } })).toBe(true)
    expect(modified({ metadata: { ...pod.metadata, labels: {} } })).toBe(true)
  })

  it('causes nothing when only its phase changes, or while it has no node', () => {
    expect(modified({ status: { ...pod.status, phase: 'Failed' } })).toBe(false)
    const unscheduled: Stored<Pod> = { ...stored, spec: { containers: [] } }
    expect(AGENT_PODS.predicate({ type: 'added', object: unscheduled })).toBe(false)
    expect(AGENT_PODS.predicate({ type: 'deleted', object: unscheduled })).toBe(false)
  })

  it('reconciles the DynaKube that created it, unless that was deleted', () => {
    const cacheOf = (found: unknown) => ({ get: () => found }) as unknown as CacheReader
    const owner = dynakube({ oneAgent: { hostMonitoring: {} } })
    expect(AGENT_PODS.map(stored, cacheOf(owner))).toEqual([{ namespace: 'dynatrace', name: owner.metadata.name }])
    expect(AGENT_PODS.map(stored, cacheOf(undefined))).toEqual([])
  })
})

describe('the status of agents', () => {
  const MINUTE = 60_000
  const hosts: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }
  const ofStatus = oneAgentLabels(dynakube(hosts, { status: KNOWN_STATUS })).all
  const on = (nodeName: string | undefined, more: Readonly<Record<string, string>> = {}): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, name: `dk-oneagent-${nodeName}`, labels: { ...ofStatus, ...more } },
    spec: { ...(nodeName && { nodeName }), containers: [] },
  })

  function report(pods: readonly Pod[], status: DynaKubeStatus = KNOWN_STATUS, spec = hosts) {
    const clock = new SimulatedClock({ startMs: Date.UTC(2030, 0, 1, 0, 10) })
    const reporter = reporterOf(dynakube(spec, { status }), clock)
    const context = { reporter, clock, cache: { list: () => pods }, dependencies: { instancesIntervalMs: 5 * MINUTE } }
    // Nothing else is read, and of the cache only pods.
    void instances.resolve?.(context as unknown as DynaKubeContext)
    return reporter.status?.oneAgent
  }
  const told = (instances: object, minute: number): DynaKubeStatus => ({
    oneAgent: {
      ...KNOWN_STATUS.oneAgent,
      instances: { ...instances },
      lastInstanceStatusUpdate: new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString(),
    },
  })
  const first = { 'node-1': { podName: 'dk-oneagent-node-1', ipAddress: '10.0.0.1' } }

  it('names them by node, immediately the first time', () => {
    expect(report([on('node-1'), on(undefined)])).toMatchObject({
      instances: first,
      lastInstanceStatusUpdate: '2030-01-01T00:10:00Z',
    })
  })

  it('does not know those of another version or mode, nor those that the user calls differently', () => {
    const strangers = [
      on('a', { 'app.kubernetes.io/version': '1.2.3.20200101-000000' }),
      on('b', { 'app.kubernetes.io/component': 'classicfullstack' }),
      on('c', { 'app.kubernetes.io/created-by': 'other' }),
      on('d', { 'app.kubernetes.io/name': 'mine' }),
    ]
    expect(report(strangers)?.instances).toEqual({})
  })

  it('is not compared more often than agreed', () => {
    expect(report([on('node-2')], told(first, 6))?.instances).toEqual(first)
    expect(Object.keys(report([on('node-2')], told(first, 5))?.instances ?? {})).toEqual(['node-2'])
  })

  it('is written at the end of the interval when agents changed within it', () => {
    const clock = new SimulatedClock({ startMs: Date.UTC(2030, 0, 1, 0, 10) })
    const due = (pods: readonly Pod[], minute: number) => {
      const reporter = reporterOf(dynakube(hosts, { status: told(first, minute) }), clock)
      // Of the cache only pods are read.
      return instancesDueMs(reporter, { clock, cache: { list: () => pods } as unknown as CacheReader }, 5 * MINUTE)
    }
    expect(due([on('node-2')], 7)).toBe(2 * MINUTE)
    expect(due([on('node-1')], 7)).toBeUndefined()
    expect(due([on('node-2')], 5)).toBeUndefined()
  })

  it('is not written for a new timestamp only', () => {
    const before = told(first, 0)
    expect(report([on('node-1')], before)).toBe(before.oneAgent)
  })

  it('has none when no agents are enabled', () => {
    const status = report([on('node-1')], told(first, 0), { oneAgent: { applicationMonitoring: {} } })
    expect(status).not.toMatchObject({ instances: expect.anything() })
    expect(status?.lastInstanceStatusUpdate).toBeUndefined()
    expect(status?.connectionInfoStatus).toEqual(KNOWN_STATUS.oneAgent?.connectionInfoStatus)
  })
})
