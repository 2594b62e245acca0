import { expect, it } from 'vitest'
import type { Pod } from '../kinds/pods.ts'
import { pod as podDraft } from '../testing/builders.ts'
import type { ContainerPlan } from './pod-behaviour.ts'
import { type NodeContext, stepPod } from './pod-lifecycle.ts'

const plan: ContainerPlan = {
  runForMs: Number.POSITIVE_INFINITY,
  exit: () => ({ code: 0, reason: 'Completed' }),
  startedAfterMs: 0,
  readyAfterMs: 0,
}
const node: NodeContext = {
  behaviour: { startDelayMs: 0, stopDelayMs: 0, isStuck: false, isEvicted: false, planOf: () => plan },
  hostIP: '10.0.0.1',
  podIP: () => '10.1.0.1',
  unmountable: undefined,
  missingFor: () => undefined,
}

it('a step of a pod takes time in proportion to its containers, of which a request may have tens of thousands', () => {
  const containers = Array.from({ length: 40_000 }, (_, index) => ({ name: `c${index}`, image: 'app:1' }))
  const draft = podDraft('many', { spec: { containers } })
  const pod: Pod = {
    ...draft,
    metadata: {
      ...draft.metadata,
      name: 'many',
      uid: 'uid-1',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
  }
  const memory = { acceptedAtMs: 0, times: new Map() }
  const first = stepPod(pod, memory, node, 1_000)
  const second = stepPod({ ...pod, status: first.status }, memory, node, 2_000)
  expect(second.status.containerStatuses).toHaveLength(40_000)
  expect(second.status.phase).toBe('Running')
})
