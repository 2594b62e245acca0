import type { KubeObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { applied } from './apply-manifest.ts'

const object = (apiVersion: string, content: object): KubeObject => ({
  ...{ apiVersion, kind: 'Thing', metadata: { name: 'one' } },
  ...content,
})
const merge = (apiVersion: string, live: object, file: object, last?: object) =>
  applied(object(apiVersion, live), object(apiVersion, file), last && object(apiVersion, last))

describe('a file applied to a live object', () => {
  it('keeps what others set, at any depth, and removes what the file had before', () => {
    const live = { spec: { text: 'hi', tone: 'loud', owner: { team: 'web', cost: 3 } }, extra: true }
    const last = { spec: { text: 'hi', tone: 'loud', owner: { team: 'web' } } }
    expect(merge('example.com/v1', live, { spec: { text: 'ho', owner: {} } }, last)).toMatchObject({
      spec: { text: 'ho', owner: { cost: 3 } },
      extra: true,
    })
    expect(merge('example.com/v1', live, { spec: { text: 'ho' } }, last)).not.toHaveProperty('spec.owner')
  })

  it('keeps everything that it does not name when kubectl did not create the object', () => {
    const live = { spec: { text: 'hi', tone: 'loud' } }
    expect(merge('example.com/v1', live, { spec: { text: 'hi' } })).toMatchObject(live)
  })

  it('replaces lists of custom resources', () => {
    const live = { spec: { env: [{ name: 'A', by: 'webhook' }, { name: 'B' }] } }
    const file = { spec: { env: [{ name: 'A' }] } }
    expect(merge('example.com/v1', live, file)).toMatchObject({ spec: { env: [{ name: 'A' }] } })
    expect(merge('gateway.networking.k8s.io/v1', live, file)).toHaveProperty('spec.env.length', 1)
  })

  it('merges the lists of built-in kinds that have keys, and replaces the others', () => {
    const live = {
      spec: { containers: [{ name: 'app', image: 'a', stdin: true }, { name: 'sidecar' }, { name: 'old' }] },
      subjects: [{ name: 'a' }, { name: 'b' }],
    }
    const file = { spec: { containers: [{ name: 'app', image: 'b' }] }, subjects: [{ name: 'a' }] }
    const last = { spec: { containers: [{ name: 'app' }, { name: 'old' }] } }
    expect(merge('apps/v1', live, file, last)).toMatchObject({
      spec: { containers: [{ name: 'app', image: 'b', stdin: true }, { name: 'sidecar' }] },
      subjects: [{ name: 'a' }],
    })
  })

  it('keeps the metadata that belongs to the server, and the status', () => {
    const live = object('v1', { status: { phase: 'Active' } })
    const stored = { ...live, metadata: { ...live.metadata, uid: 'u', resourceVersion: '7' } }
    const file = { ...object('v1', {}), metadata: { name: 'one', uid: 'other', resourceVersion: '1' } }
    expect(applied(stored, file, undefined)).toMatchObject({
      metadata: { uid: 'u', resourceVersion: '7' },
      status: { phase: 'Active' },
    })
  })
})
