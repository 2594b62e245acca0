import type { Namespace } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { collectorOf } from '../testing/collector.ts'
import { acceptedNamespaces, targetProblem } from './target-namespace.ts'

const RULES = { operatorNamespace: 'operators', adminNamespaces: ['platform'], protectedNamespaces: ['mesh-*'] }

const namespace = (name: string, allowFrom?: string): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    ...(allowFrom !== undefined && { annotations: { 'collector.example.com/allow-from': allowFrom } }),
  },
})
const problem = (from: string, reference: string, target?: Namespace) =>
  targetProblem(collectorOf({ metadata: { name: 'a', namespace: from }, tenant: { reference } }), target, RULES)

describe('a Collector may target', () => {
  it('its own namespace, however it writes the name', () => {
    expect(problem('team-a', 'Team-A', namespace('team-a'))).toBeUndefined()
  })

  it('a namespace that accepts it', () => {
    expect(problem('team-a', 'victim', namespace('victim', 'team-b, team-a'))).toBeUndefined()
  })

  it('any namespace of a tenant, there or not, when it is an administrator’s', () => {
    expect(problem('platform', 'acme', namespace('acme'))).toBeUndefined()
    expect(problem('platform', 'acme')).toBeUndefined()
  })
})

describe('a Collector may not target', () => {
  it.each([
    ['a namespace that accepts no other', namespace('victim')],
    ['one that accepts other namespaces', namespace('victim', 'team-b,team-abc, xteam-a,*,team-*')],
    ['one whose list is longer than any list', namespace('victim', `team-a,${'x'.repeat(5_000)}`)],
    ['one that does not exist, with the same message', undefined],
  ])('%s', (_, target) => {
    expect(problem('team-a', 'victim', target)).toEqual({
      field: 'spec.tenant.reference',
      message:
        'the namespace "victim" does not accept Collectors of "team-a": its owner has to add "team-a" to its ' +
        'annotation collector.example.com/allow-from',
    })
  })

  it.each([
    ['of Kubernetes', 'kube-system'],
    ['of the operator', 'operators'],
    ['that the administrator protects', 'mesh-system'],
  ])('a namespace %s, even if it accepts the Collector, and for administrators too', (_, name) => {
    const willing = namespace(name, 'team-a,platform,operators')
    for (const from of ['team-a', 'platform', 'operators', name]) {
      expect(problem(from, name.toUpperCase(), willing)?.message).toContain('no Collector may target it')
    }
  })

  it('a namespace by another letter that becomes the same in lower case', () => {
    expect(problem('team-a', '\u212Aube-system', namespace('kube-system', 'team-a'))).toBeDefined()
  })
})

it('an empty list accepts nothing', () => {
  expect(acceptedNamespaces(namespace('a', ' , ')).size).toBe(0)
})
