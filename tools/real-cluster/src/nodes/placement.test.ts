import { describe, expect, it } from 'vitest'
import type { Node, Pod, Taint } from './objects.ts'
import { isTolerated, place } from './placement.ts'

const node = (name: string, rest: { labels?: Record<string, string>; spec?: Node['spec'] } = {}): Node => ({
  metadata: { name, labels: rest.labels },
  spec: rest.spec,
})
const pod = (spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name: 'pod', namespace: 'default' },
  spec: { containers: [{ name: 'main' }], ...spec },
})
const requires = (term: object): Partial<Pod['spec']> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
})
const none = new Map<string, number>()

describe('placing a pod', () => {
  it('chooses the node with the fewest pods', () => {
    const load = new Map([
      ['a', 2],
      ['b', 1],
    ])
    expect(place(pod(), [node('a'), node('b')], load)).toEqual({ node: 'b' })
  })

  it('chooses the first node by name among equals', () => {
    expect(place(pod(), [node('b'), node('a')], none)).toEqual({ node: 'a' })
  })

  it('excludes cordoned nodes', () => {
    const nodes = [node('a', { spec: { unschedulable: true } }), node('b')]
    expect(place(pod(), nodes, none)).toEqual({ node: 'b' })
  })

  it('respects the node selector', () => {
    const nodes = [node('a'), node('b', { labels: { disk: 'fast' } })]
    expect(place(pod({ nodeSelector: { disk: 'fast' } }), nodes, none)).toEqual({ node: 'b' })
  })

  it('respects required node affinity by name, as pods of a DaemonSet use it', () => {
    const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }
    expect(place(pod(requires(term)), [node('a'), node('b')], none)).toEqual({ node: 'b' })
  })

  it.each([
    ['In', ['2', '3'], true],
    ['NotIn', ['2'], false],
    ['Exists', undefined, true],
    ['DoesNotExist', undefined, false],
    ['Gt', ['1'], true],
    ['Lt', ['2'], false],
  ])('supports the operator %s', (operator, values, isFitting) => {
    const term = { matchExpressions: [{ key: 'size', operator, values }] }
    const placement = place(pod(requires(term)), [node('a', { labels: { size: '2' } })], none)
    expect('node' in placement).toBe(isFitting)
  })

  it('lets a term without requirements match nothing', () => {
    expect(place(pod(requires({})), [node('a')], none)).toHaveProperty('unschedulable')
  })

  it('reports how many nodes were rejected and why', () => {
    const taints: Taint[] = [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }]
    const nodes = [node('a', { spec: { taints } }), node('b', { spec: { taints } })]
    expect(place(pod(), nodes, none)).toEqual({
      unschedulable: '0/2 nodes are available: 2 node(s) had untolerated taint {gpu: yes}.',
    })
  })

  it('ignores taints with the effect PreferNoSchedule', () => {
    const taints: Taint[] = [{ key: 'gpu', effect: 'PreferNoSchedule' }]
    expect(place(pod(), [node('a', { spec: { taints } })], none)).toEqual({ node: 'a' })
  })
})

describe('tolerating a taint', () => {
  const taint: Taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' }

  it.each([
    ['the same key, value and effect', { key: 'gpu', value: 'yes', effect: 'NoSchedule' }, true],
    ['any effect when none is given', { key: 'gpu', operator: 'Equal', value: 'yes' }, true],
    ['any value with Exists', { key: 'gpu', operator: 'Exists' }, true],
    ['everything with Exists and no key', { operator: 'Exists' }, true],
    ['not another value', { key: 'gpu', value: 'no' }, false],
    ['not another effect', { key: 'gpu', operator: 'Exists', effect: 'NoExecute' }, false],
    ['not another key', { key: 'cpu', operator: 'Exists' }, false],
  ])('accepts %s', (_description, toleration, isAccepted) => {
    expect(isTolerated(taint, [toleration])).toBe(isAccepted)
  })
})
