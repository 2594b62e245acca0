import { expect, it } from 'vitest'
import { groupOf, isBuiltInGroup } from './api-groups.ts'

it.each([
  '',
  'apps',
  'batch',
  'policy',
  'networking.k8s.io',
  'rbac.authorization.k8s.io',
  'flowcontrol.apiserver.k8s.io',
])('the group "%s" is built in', (group) => expect(isBuiltInGroup(group)).toBe(true))

it.each([
  'example.com',
  'gateway.networking.k8s.io',
  'snapshot.storage.k8s.io',
  'metrics.k8s.io',
  'x-k8s.io',
  'k8s.io',
])('the group "%s" is not', (group) => expect(isBuiltInGroup(group)).toBe(false))

it('the core group has no name', () => {
  expect(['v1', 'apps/v1', 'example.com/v1beta1'].map(groupOf)).toEqual(['', 'apps', 'example.com'])
})
