import { Pods } from '@reeve/kube'
import { expect, test } from 'vitest'
import { metadataOf, stripManagedFields } from './transform.ts'

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '',
    managedFields: [{ manager: 'kubectl' }],
  },
  spec: { containers: [{ name: 'web', env: [{ name: 'A' }] }] },
}

test('managed fields are dropped from a copy, everything else stays', () => {
  const stripped = stripManagedFields(pod)
  expect(stripped.metadata).not.toHaveProperty('managedFields')
  expect(stripped.spec).toBe(pod.spec)
  expect(pod.metadata.managedFields).toHaveLength(1)
  expect(stripManagedFields(stripped)).toBe(stripped)
})

test('metadata-only objects keep the kind of their resource', () => {
  const partial = metadataOf(Pods, { ...pod, kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' })
  expect(partial).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: pod.metadata })
})
