import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Pod } from './objects.ts'
import { ANNOTATIONS, behaviourOf } from './pod-behaviour.ts'
import { reportPod, reportTerminated } from './pod-status.ts'

const START_MS = Date.parse('2030-01-01T00:00:00Z')
const host = { hostIP: '172.31.0.1', podIP: '10.244.0.2' }

const pod = (options: { spec?: Partial<Pod['spec']>; annotations?: Record<string, string> } = {}): Pod => ({
  metadata: { name: 'pod', namespace: 'default', uid: 'u', generation: 1, annotations: options.annotations },
  spec: { containers: [{ name: 'main', image: 'image:1' }], ...options.spec },
})
const report = (before: Pod, nowMs = START_MS) => reportPod(before, behaviourOf(before), host, nowMs)
const advance = (before: Pod, nowMs: number): Pod => ({ ...before, status: report(before, nowMs).status })
const ready = (of: Pod) => of.status?.conditions?.find(({ type }) => type === 'Ready')

describe('the status of a simulated pod', () => {
  it('is running and ready at once', () => {
    const after = advance(pod(), START_MS)
    expect(after.status).toMatchObject({ phase: 'Running', podIP: '10.244.0.2', hostIP: '172.31.0.1' })
    expect(ready(after)?.status).toBe('True')
  })

  it('has the address of the node when it uses the host network', () => {
    expect(report(pod({ spec: { hostNetwork: true } })).status.podIP).toBe('172.31.0.1')
  })

  it('shows init containers as completed and sidecars as running', () => {
    const initContainers = [{ name: 'init' }, { name: 'sidecar', restartPolicy: 'Always' }]
    const statuses = report(pod({ spec: { initContainers } })).status.initContainerStatuses
    expect(statuses?.map(({ state }) => Object.keys(state)[0])).toEqual(['terminated', 'running'])
    expect(statuses?.every((status) => status.ready)).toBe(true)
  })

  it('is not ready before its readiness gates are open', () => {
    const gated = pod({ spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } })
    expect(ready(advance(gated, START_MS))).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' })
    const opened = { ...gated, status: { conditions: [{ type: 'example.com/gate', status: 'True' }] } }
    expect(ready(advance(opened, START_MS))?.status).toBe('True')
  })

  it('stays pending with the requested reason', () => {
    const waiting = report(pod({ annotations: { [ANNOTATIONS.fail]: 'ImagePullBackOff' } })).status
    expect(waiting.phase).toBe('Pending')
    expect(waiting.containerStatuses?.[0]?.state.waiting?.reason).toBe('ImagePullBackOff')
  })

  it('runs for the requested time and then succeeds', () => {
    const annotations = { [ANNOTATIONS.runFor]: '5s' }
    const running = advance(pod({ annotations, spec: { restartPolicy: 'Never' } }), START_MS)
    expect(running.status?.phase).toBe('Running')
    expect(report(running, START_MS + 1_000).nextChangeMs).toBe(4_000)
    expect(report(running, START_MS + 5_000).status.phase).toBe('Succeeded')
  })

  it('fails when its restart policy is Never', () => {
    const failed = report(pod({ annotations: { [ANNOTATIONS.exitCode]: '3' }, spec: { restartPolicy: 'Never' } }))
    expect(failed.status.phase).toBe('Failed')
    expect(failed.status.containerStatuses?.[0]?.state.terminated?.exitCode).toBe(3)
  })

  it('restarts with increasing delays when it fails repeatedly', () => {
    let crashing = pod({ annotations: { [ANNOTATIONS.exitCode]: '1' } })
    const delays: (number | undefined)[] = []
    for (let nowMs = START_MS, round = 0; round < 3; round += 1) {
      crashing = advance(crashing, nowMs)
      const { nextChangeMs = 0 } = report(crashing, nowMs)
      delays.push(nextChangeMs)
      nowMs += nextChangeMs
    }
    expect(delays).toEqual([1_000, 2_000, 4_000])
    expect(crashing.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    })
  })

  it('counts a restart when the image is replaced', () => {
    const running = advance(pod(), START_MS)
    const replaced = { ...running, spec: { containers: [{ name: 'main', image: 'image:2' }] } }
    expect(report(replaced, START_MS + 1_000).status.containerStatuses?.[0]).toMatchObject({
      image: 'image:2',
      restartCount: 1,
    })
  })

  it('reports all containers as terminated before the object is deleted', () => {
    const ended = reportTerminated(advance(pod(), START_MS), START_MS + 1_000)
    expect(ended.phase).toBe('Succeeded')
    expect(ended.containerStatuses?.[0]).toMatchObject({ ready: false, state: { terminated: { exitCode: 0 } } })
  })

  it('does not change before the announced time', () => {
    const anyPod = fc.record({
      restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
      exitCode: fc.option(fc.constantFrom('0', '1'), { nil: undefined }),
      runForMs: fc.option(fc.constantFrom('0', '1500', '60000'), { nil: undefined }),
      isSidecarThere: fc.boolean(),
    })
    fc.assert(
      fc.property(anyPod, fc.array(fc.nat(90_000), { maxLength: 8 }), (options, waits) => {
        const annotations: Record<string, string> = {}
        if (options.exitCode !== undefined) annotations[ANNOTATIONS.exitCode] = options.exitCode
        if (options.runForMs !== undefined) annotations[ANNOTATIONS.runFor] = `${options.runForMs}ms`
        const initContainers = options.isSidecarThere ? [{ name: 'sidecar', restartPolicy: 'Always' }] : []
        let current = pod({ annotations, spec: { restartPolicy: options.restartPolicy, initContainers } })
        let nowMs = START_MS
        for (const waitMs of waits) {
          nowMs += waitMs
          current = advance(current, nowMs)
          const { status, nextChangeMs = 60_000 } = report(current, nowMs)
          expect(status).toEqual(current.status)
          expect(report(current, nowMs + Math.max(0, nextChangeMs - 1)).status).toEqual(current.status)
        }
      }),
    )
  })
})
