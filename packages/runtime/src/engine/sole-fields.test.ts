import type { KubeObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { withoutForeignEntries } from './sole-fields.ts'

const PATHS = ['spec.ports', 'spec.selector']

const service = (spec: object): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec }) as KubeObject

const wanted = service({ ports: [{ name: 'http', port: 80 }], selector: { app: 'web' } })

describe('entries of other managers', () => {
  it('are none where the server only added defaults', () => {
    const live = service({
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }],
      selector: { app: 'web' },
      clusterIP: '10.0.0.1',
    })
    expect(withoutForeignEntries(wanted, live, PATHS)).toBeUndefined()
  })

  it('in a list make the desired list replace it', () => {
    const renumbered = service({ ports: [{ name: 'http', port: 81, protocol: 'TCP' }], selector: { app: 'web' } })
    expect(withoutForeignEntries(wanted, renumbered, PATHS)).toEqual({ spec: { ports: [{ name: 'http', port: 80 }] } })
    const added = service({
      ports: [
        { name: 'http', port: 80 },
        { name: 'mine', port: 1 },
      ],
      selector: { app: 'web' },
    })
    expect(withoutForeignEntries(wanted, added, PATHS)).toEqual({ spec: { ports: [{ name: 'http', port: 80 }] } })
  })

  it('in a list are matched by fields that the entry itself has', () => {
    const named = (entry: string) => service({ ports: [JSON.parse(entry)] })
    const patch = withoutForeignEntries(named('{"constructor":{}}'), named('{"port":1}'), ['spec.ports'])
    expect(JSON.stringify(patch)).toBe('{"spec":{"ports":[{"constructor":{}}]}}')
  })

  it('in a map are removed one by one', () => {
    const live = service({ ports: [{ name: 'http', port: 80 }], selector: { app: 'web', tier: 'mine' } })
    expect(withoutForeignEntries(wanted, live, PATHS)).toEqual({ spec: { selector: { tier: null } } })
  })

  it('of both are removed together', () => {
    const live = service({ ports: [], selector: { tier: 'mine' } })
    expect(withoutForeignEntries(wanted, live, PATHS)).toEqual({ spec: { selector: { tier: null } } })
  })

  it('are ignored in other fields', () => {
    const live = service({ ports: [{ name: 'http', port: 80 }], selector: { app: 'web' }, externalIPs: ['192.0.2.1'] })
    expect(withoutForeignEntries(wanted, live, PATHS)).toBeUndefined()
    expect(withoutForeignEntries(wanted, live, ['spec.externalIPs', 'spec.no.such'])).toBeUndefined()
  })
})
