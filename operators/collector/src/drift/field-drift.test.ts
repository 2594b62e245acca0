import type { ManagedFieldsEntry } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { driftedFields } from './field-drift.ts'

type Fields = Readonly<Record<string, unknown>>

const entry = (manager: string, fieldsV1: Fields, parts: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  fieldsV1,
  ...parts,
})

const object = (content: object, managedFields?: readonly ManagedFieldsEntry[], kind = 'Deployment') => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web', namespace: 'acme', ...(managedFields && { managedFields }) },
  ...content,
})

const container = (parts: object) => ({ spec: { containers: [{ name: 'web', ...parts }] } })
const owning = (...names: readonly string[]) => ({
  'f:spec': { 'f:containers': { 'k:{"name":"web"}': { '.': {}, ...Object.fromEntries(names.map((n) => [n, {}])) } } },
})

describe('the drift of an object', () => {
  it('is empty while Helm owns what it wrote, however the server expresses it', () => {
    const desired = object(container({ cpu: 0.5, ports: [], nothing: null }))
    const live = object(container({ cpu: '500m' }), [entry('helm', owning('f:name', 'f:cpu'))])
    expect(driftedFields(desired, live, 'helm')).toEqual([])
  })

  it('names the field that was changed, and not what other managers added', () => {
    const desired = object(container({ image: 'a:1' }))
    const managers = [entry('helm', owning('f:name')), entry('kubectl-edit', owning('f:image', 'f:added'))]
    const live = object(container({ image: 'a:2', added: true }), managers)
    expect(driftedFields(desired, live, 'helm')).toEqual(['spec.containers[name=web].image'])
    const same = object(container({ image: 'a:1', added: true }), managers)
    expect(driftedFields(desired, same, 'helm')).toEqual([])
  })

  it('names what was removed: a field, an item, a whole map', () => {
    const desired = object({ ...container({ image: 'a:1' }), data: { key: 'x' } })
    const live = object({ spec: { containers: [] } }, [entry('helm', { 'f:spec': { 'f:other': {} } })])
    expect(driftedFields(desired, live, 'helm')).toEqual(['spec.containers', 'data'])
  })

  it('covers a list as a whole that Helm owned as a whole, with what was added to it', () => {
    const [desired, live] = [object({ spec: { args: ['a'] } }), object({ spec: { args: ['a', 'b'] } }, [])]
    expect(driftedFields(desired, live, 'helm')).toEqual(['spec.args'])
    expect(driftedFields(desired, object({ spec: { args: ['a'] } }, []), 'helm')).toEqual([])
  })

  it.each([{}, { '.': {} }])('is found although the map around the only key still belongs to Helm (%j)', (left) => {
    const managers = [entry('helm', { 'f:data': left }, { operation: 'Update' })]
    const live = object({ data: { key: 'y' } }, managers, 'ConfigMap')
    expect(driftedFields(object({ data: { key: 'x' } }, undefined, 'ConfigMap'), live, 'helm')).toEqual(['data.key'])
  })

  it.each([
    ['an autoscaler manages', 'kube-controller-manager', []],
    ['scaled manually', 'kubectl', ['spec.replicas']],
  ])('of replicas that %s (%s) is %j', (_, manager, fields) => {
    const managers = [entry(manager, { 'f:spec': { 'f:replicas': {} } }, { subresource: 'scale', operation: 'Update' })]
    expect(
      driftedFields(object({ spec: { replicas: 1 } }), object({ spec: { replicas: 5 } }, managers), 'helm'),
    ).toEqual(fields)
  })

  it('compares stringData of a Secret with the data that the server stores', () => {
    const desired = object({ stringData: { a: 'x' } }, undefined, 'Secret')
    const managers = [entry('helm', { 'f:stringData': { 'f:a': {} } })]
    const live = (text: string) => object({ data: { a: Buffer.from(text).toString('base64') } }, managers, 'Secret')
    expect(driftedFields(desired, live('x'), 'helm')).toEqual([])
    expect(driftedFields(desired, live('y'), 'helm')).toEqual(['data.a'])
  })

  it('matches members of sets, and ports without the default protocol', () => {
    const desired = object({ spec: { finalizers: ['a', 'b'], ports: [{ port: 80, name: 'web' }] } })
    const helm = entry('helm', {
      'f:spec': {
        'f:finalizers': { 'v:"a"': {} },
        'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } },
      },
    })
    const ports = [{ port: 80, protocol: 'TCP', name: 'http' }]
    const live = object({ spec: { finalizers: ['a'], ports } }, [helm])
    expect(driftedFields(desired, live, 'helm')).toEqual([
      'spec.finalizers["b"]',
      'spec.ports[port=80,protocol=TCP].name',
    ])
  })
})
