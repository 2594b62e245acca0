import type { Pod } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { dynakube } from '../../api/testing/build.ts'
import { oneAgentLabels } from './components/one-agent/one-agent.ts'
import { AGENT_PODS } from './instances.ts'

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
