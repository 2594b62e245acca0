import type { KubeObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { EdgeConnect } from '../latest.ts'
import { convertEdgeConnect } from './convert.ts'

const object = (version: string, spec?: object) =>
  ({
    apiVersion: `dynatrace.com/${version}`,
    kind: 'EdgeConnect',
    metadata: { namespace: 'dynatrace', name: 'ec' },
    ...(spec && { spec }),
  }) as KubeObject
const convert = (from: KubeObject, to: string) => convertEdgeConnect(from, to) as EdgeConnect

describe('an EdgeConnect', () => {
  it('lists host restrictions in v1alpha2 and joins them in v1alpha1', () => {
    const hub = convert(object('v1alpha1', { hostRestrictions: 'foo,bar' }), 'v1alpha2')
    expect(hub.spec.hostRestrictions).toEqual(['foo', 'bar'])
    expect(convert(hub, 'v1alpha1').spec.hostRestrictions).toBe('foo,bar')
    expect(convert(object('v1alpha1', {}), 'v1alpha2').spec).not.toHaveProperty('hostRestrictions')
    expect(convert(object('v1alpha1', { hostRestrictions: '' }), 'v1alpha2').spec).not.toHaveProperty(
      'hostRestrictions',
    )
  })

  it('shows its defaults in v1alpha1', () => {
    expect(convert(object('v1alpha2', { apiServer: 'a' }), 'v1alpha1').spec).toEqual({
      apiServer: 'a',
      autoUpdate: true,
      serviceAccountName: 'dynatrace-edgeconnect',
    })
  })

  it('keeps what is written, even an empty service account', () => {
    const spec = { autoUpdate: false, serviceAccountName: '', replicas: 2, proxy: { host: 'p', port: 1 } }
    expect(convert(object('v1alpha1', spec), 'v1alpha2').spec).toEqual(spec)
  })

  it('has the empty version status of v1alpha2 from the start', () => {
    expect(convert(object('v1alpha1', {}), 'v1alpha2').status).toEqual({ version: {} })
  })

  it('converts without a spec', () => {
    expect(convert(object('v1alpha1'), 'v1alpha2').spec.apiServer).toBe('')
    expect(convert(object('v1alpha2'), 'v1alpha1').spec.apiServer).toBe('')
  })
})
