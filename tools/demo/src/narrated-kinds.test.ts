import type { Stored } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { COMMON_KINDS } from './narrated-kinds.ts'
import type { Narrated, Sentence } from './narrator.ts'

function sentenceFor(kind: string, object: Omit<Narrated, 'apiVersion' | 'kind'>): Sentence | undefined {
  const narrated = COMMON_KINDS.find(({ resource }) => resource.kind === kind)
  // Stored objects have more than the story reads.
  return narrated?.describe({ apiVersion: 'v1', kind, ...object } as Stored<Narrated>)
}
const metadata = { name: 'shop' }

describe('the story of common kinds', () => {
  it.each([
    ['Deployment', { spec: { replicas: 2 }, status: { availableReplicas: 1 } }, 'waiting', '1 of 2 pods available'],
    ['StatefulSet', { status: { availableReplicas: 1 } }, 'available', '1 of 1 pods available'],
    ['DaemonSet', { status: { desiredNumberScheduled: 3 } }, 'waiting', '0 of 3 pods available'],
    ['DaemonSet', { status: { desiredNumberScheduled: 3, numberAvailable: 3 } }, 'available', '3 of 3 pods available'],
  ])('counts the pods of a %s', (kind, object, word, detail) => {
    expect(sentenceFor(kind, { metadata, ...object })).toMatchObject({ word, detail })
  })

  it('says nothing of a DaemonSet that does not know its nodes yet', () => {
    expect(sentenceFor('DaemonSet', { metadata, status: { desiredNumberScheduled: 0 } })).toBeUndefined()
  })

  it('shows each pod, unless its owner shows the number', () => {
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    expect(sentenceFor('Pod', { metadata, status })).toMatchObject({ word: 'ready' })
    expect(sentenceFor('Pod', { metadata, status: { phase: 'Running' } })).toMatchObject({ word: 'running' })
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agents', uid: '1', controller: true }
    expect(sentenceFor('Pod', { metadata: { ...metadata, ownerReferences: [owner] }, status })).toBeUndefined()
  })

  it('has no news of the Service that every cluster has', () => {
    expect(sentenceFor('Service', { metadata })).toMatchObject({ word: 'created' })
    expect(sentenceFor('Service', { metadata: { name: 'kubernetes' } })).toBeUndefined()
  })
})
