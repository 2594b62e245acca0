import { expect, test } from 'vitest'
import type { ResourceInfo } from './resource-info.ts'
import { ResourceRegistry } from './resource-registry.ts'

function widget(version: string, change: Partial<ResourceInfo> = {}): ResourceInfo {
  return {
    group: 'example.com',
    version,
    kind: 'Widget',
    listKind: 'WidgetList',
    plural: 'widgets',
    singular: 'widget',
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ['get'],
    subresources: [],
    storageVersion: 'v1',
    schema: undefined,
    custom: true,
    ...change,
  }
}

test('the registry of resources finds a resource by path, by kind and by name', () => {
  const registry = new ResourceRegistry()
  registry.add(widget('v1'))
  expect(registry.lookup('example.com', 'v1', 'widgets')?.kind).toBe('Widget')
  expect(registry.byKind('example.com', 'v1', 'Widget')?.plural).toBe('widgets')
  expect(registry.stored('widgets.example.com')?.version).toBe('v1')
  expect(registry.lookup('example.com', 'v2', 'widgets')).toBeUndefined()
})

test('the registry of resources orders versions as Kubernetes prefers them', () => {
  const registry = new ResourceRegistry()
  for (const version of ['v1alpha1', 'foo', 'v1', 'v2beta1', 'v10', 'v2beta2', 'v2']) registry.add(widget(version))
  expect(registry.groups()).toEqual([
    { group: 'example.com', versions: ['v10', 'v2', 'v1', 'v2beta2', 'v2beta1', 'v1alpha1', 'foo'] },
  ])
})

test('replacing drops versions that are no longer listed and notifies once', () => {
  const registry = new ResourceRegistry()
  registry.add(widget('v1alpha1'))
  let notified = 0
  registry.onChange(() => {
    notified += 1
  })
  registry.replace('widgets.example.com', [widget('v1')])
  expect(registry.all().map((info) => info.version)).toEqual(['v1'])
  expect(notified).toBe(1)
})

test('removing makes every version unknown and does not notify when there was none', () => {
  const registry = new ResourceRegistry()
  registry.add(widget('v1'))
  let notified = 0
  const unsubscribe = registry.onChange(() => {
    notified += 1
  })
  registry.remove('widgets.example.com')
  registry.remove('widgets.example.com')
  unsubscribe()
  registry.add(widget('v1'))
  expect(notified).toBe(1)
})
