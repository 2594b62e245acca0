import type { KubeObject } from '@reeve/kube'
import { essence, GENERATED, KNOWN_AFTER_APPLY, SENSITIVE } from '@reeve/plan'
import { describe, expect, it } from 'vitest'
import { conceal } from './conceal.ts'

describe('what a plan shows of an object', () => {
  it('has the keys of a Secret and none of its values', () => {
    expect(conceal('Secret', 'data', { apiToken: 'ZHQw', 'a.b': 'ZHQx' })).toEqual({
      apiToken: SENSITIVE,
      'a.b': SENSITIVE,
    })
    expect(conceal('Secret', 'data.apiToken', 'ZHQw')).toBe(SENSITIVE)
    expect(conceal('Secret', 'stringData[a.b]', 'dt0')).toBe(SENSITIVE)
    expect(conceal('ConfigMap', 'data', { colour: 'blue' })).toEqual({ colour: 'blue' })
  })

  it('hides the last applied configuration of a Secret', () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'dynakube',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"apiToken":"ZHQw"}}' },
      },
    }
    expect(JSON.stringify(essence(secret))).not.toContain('ZHQw')
  })

  it('hides the address of a proxy in a DynaKube, which may hold a password', () => {
    expect(conceal('DynaKube', 'spec', { proxy: { value: 'http://user:password@proxy' } })).toEqual({
      proxy: { value: SENSITIVE },
    })
  })

  it('has no hashes and no addresses that another run would not have', () => {
    const annotation = 'internal.operator.dynatrace.com/tenant-token-hash'
    expect(conceal('DaemonSet', 'spec.template.metadata', { annotations: { [annotation]: '12345' } })).toEqual({
      annotations: { [annotation]: GENERATED },
    })
    expect(conceal('Service', 'spec', { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'] })).toEqual({
      clusterIP: KNOWN_AFTER_APPLY,
      clusterIPs: KNOWN_AFTER_APPLY,
    })
    expect(conceal('Service', 'spec', { clusterIP: 'None' })).toEqual({ clusterIP: 'None' })
  })

  it('has nothing that servers keep for themselves', () => {
    const object: KubeObject & { readonly data: object; readonly status: object } = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'web', namespace: 'shop', uid: '1', resourceVersion: '2', labels: { app: 'web' } },
      data: { colour: 'blue' },
      status: { observed: true },
    }
    expect(essence(object)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
      data: { colour: 'blue' },
    })
  })
})
