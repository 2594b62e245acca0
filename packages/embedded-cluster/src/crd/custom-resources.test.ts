import { afterEach, describe, expect, it } from 'vitest'
import { type FakeClusterApi, fakeClusterApi } from '../admission/testing/fake-cluster-api.ts'
import type { Clock } from '../clock.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../json.ts'
import { ResourceRegistry } from '../registry/resource-registry.ts'
import { CustomResources } from './custom-resources.ts'
import { CLEANUP_FINALIZER, DEFINITIONS } from './definition.ts'
import { markForDeletion } from './definition-status.ts'
import { type DefinitionParts, definition, version } from './testing/definitions.ts'

const running: CustomResources[] = []
afterEach(async () => {
  for (const controller of running.splice(0)) await controller.stop()
})

function fixture(stored: readonly JsonObject[] = [], api: FakeClusterApi = fakeClusterApi({ [DEFINITIONS]: stored })) {
  const registry = new ResourceRegistry()
  let now = Date.UTC(2026, 0, 1)
  const timers: { delayMs: number; action: () => void }[] = []
  const clock: Clock = {
    now: () => now,
    schedule: (delayMs, action) => {
      const timer = { delayMs, action }
      timers.push(timer)
      return { cancel: () => timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0) }
    },
  }
  const errors: unknown[] = []
  const controller = new CustomResources({ api, registry, clock, onError: (error) => errors.push(error) })
  running.push(controller)
  controller.start()
  const advance = (ms: number) => {
    now += ms
  }
  return { api, registry, controller, timers, errors, advance }
}

function conditions(api: FakeClusterApi, name = 'widgets.example.com'): Record<string, string> {
  const crd = api.get(DEFINITIONS, undefined, name)
  const list = arrayAt(objectAt(crd, 'status'), 'conditions').filter(isJsonObject)
  return Object.fromEntries(list.map(({ type, status, reason }) => [type, `${String(status)} ${String(reason)}`]))
}

const create = (api: FakeClusterApi, parts: DefinitionParts = {}) => api.create(DEFINITIONS, definition(parts))

describe('a stored definition', () => {
  it('is served immediately, with everything its version declares', async () => {
    const { api, registry } = fixture()
    await create(api, {
      names: { shortNames: ['wg'], categories: ['all'] },
      version: {
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a', priority: 1 }],
        selectableFields: [{ jsonPath: '.spec.a' }],
      },
    })
    expect(registry.lookup('example.com', 'v1', 'widgets')).toMatchObject({
      kind: 'Widget',
      listKind: 'WidgetList',
      singular: 'widget',
      namespaced: true,
      shortNames: ['wg'],
      categories: ['all'],
      custom: true,
      storageVersion: 'v1',
      subresources: [
        { name: 'status', group: 'example.com', version: 'v1', kind: 'Widget' },
        { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale' },
      ],
      printerColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a', priority: 1 }],
      selectableFields: ['.spec.a'],
      scalePaths: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      schema: {
        properties: { metadata: { type: 'object' }, spec: { type: 'object' }, apiVersion: { type: 'string' } },
      },
    })
  })

  it('reports its accepted names and the Established condition in one write', async () => {
    const { api, controller } = fixture()
    await create(api)
    await controller.idle()
    expect(objectAt(api.get(DEFINITIONS, undefined, 'widgets.example.com'), 'status')).toEqual({
      acceptedNames: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      storedVersions: ['v1'],
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
    })
    expect(api.writes.filter((write) => write.startsWith('update'))).toHaveLength(1)
  })

  it('writes nothing and does not change discovery when nothing changed', async () => {
    const { api, registry, controller, advance } = fixture()
    await create(api)
    await controller.idle()
    const { generation } = registry
    const writes = api.writes.length
    advance(60_000)
    const crd = api.get(DEFINITIONS, undefined, 'widgets.example.com') ?? {}
    api.put(DEFINITIONS, { ...crd, metadata: { ...objectAt(crd, 'metadata'), labels: { a: 'b' } } })
    await controller.idle()
    expect(api.writes).toHaveLength(writes)
    expect(registry.generation).toBe(generation)
  })

  it('serves new versions and stops serving old ones when it changes', async () => {
    const { api, registry, controller } = fixture()
    await create(api, { spec: { versions: [version('v1', { storage: true }), version('v2')] } })
    await controller.idle()
    const crd = api.get(DEFINITIONS, undefined, 'widgets.example.com') ?? {}
    const versions = [version('v1', { storage: true, served: false }), version('v2'), version('v3')]
    await api.update(DEFINITIONS, { ...crd, spec: { ...objectAt(crd, 'spec'), versions } })
    expect(registry.versionsOf('widgets.example.com').map((info) => info.version)).toEqual(['v3', 'v2'])
  })

  it('is served again after a restart', () => {
    const { registry, controller } = fixture([definition()])
    expect(registry.lookup('example.com', 'v1', 'widgets')?.kind).toBe('Widget')
    expect(controller.definitionOfKind('example.com', 'Widget')?.name).toBe('widgets.example.com')
  })

  it('warns clients of deprecated versions and names the one to use', async () => {
    const { api, registry } = fixture()
    const versions = [
      version('v1beta1', { deprecated: true }),
      version('v1', { storage: true }),
      version('v1alpha1', { deprecated: true, deprecationWarning: 'gone soon' }),
      version('v2', { deprecated: true }),
    ]
    await create(api, { spec: { versions } })
    const warning = (name: string) => registry.lookup('example.com', name, 'widgets')?.deprecationWarning
    expect(warning('v1beta1')).toBe('example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget')
    expect(warning('v1alpha1')).toBe('gone soon')
    expect(warning('v2')).toBe('example.com/v2 Widget is deprecated')
    expect(warning('v1')).toBeUndefined()
  })
})

describe('two definitions with the same names', () => {
  it('are served in the order of creation; the second waits until the first is deleted', async () => {
    const { api, registry, controller } = fixture()
    await create(api)
    await create(api, { plural: 'gadgets', names: { shortNames: ['g'] } })
    await controller.idle()
    expect(registry.versionsOf('gadgets.example.com')).toEqual([])
    const status = objectAt(api.get(DEFINITIONS, undefined, 'gadgets.example.com'), 'status')
    expect(status.acceptedNames).toEqual({ plural: 'gadgets', shortNames: ['g'], kind: '' })
    expect(conditions(api, 'gadgets.example.com')).toEqual({
      NamesAccepted: 'False ListKindConflict',
      Established: 'False NotAccepted',
    })
    await api.delete(DEFINITIONS, undefined, 'widgets.example.com')
    await controller.idle()
    expect(registry.lookup('example.com', 'v1', 'gadgets')?.kind).toBe('Widget')
    expect(conditions(api, 'gadgets.example.com')).toEqual({
      NamesAccepted: 'True NoConflicts',
      Established: 'True InitialNamesAccepted',
    })
  })

  it('do not conflict in different groups', async () => {
    const { api, registry } = fixture()
    await create(api)
    await create(api, { group: 'other.example.com' })
    expect(registry.lookup('other.example.com', 'v1', 'widgets')).toBeDefined()
  })

  it('stay with the definition that was served before a restart, whatever the order', () => {
    const holder = definition({
      plural: 'zebras',
      status: { acceptedNames: { plural: 'zebras', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' } },
    })
    const { registry } = fixture([definition({ plural: 'antelopes' }), holder])
    expect(registry.versionsOf('antelopes.example.com')).toEqual([])
    expect(registry.lookup('example.com', 'v1', 'zebras')?.kind).toBe('Widget')
  })
})

describe('the deletion of a definition', () => {
  async function deleting(instances: readonly JsonObject[]) {
    const parts = fixture()
    await create(parts.api)
    await parts.controller.idle()
    for (const instance of instances) parts.api.put('widgets.example.com', instance)
    const crd = parts.api.get(DEFINITIONS, undefined, 'widgets.example.com') ?? {}
    parts.api.put(DEFINITIONS, markForDeletion(crd, 0))
    await parts.api.delete(DEFINITIONS, undefined, 'widgets.example.com')
    return parts
  }

  it('deletes the instances, then removes the definition and stops serving it', async () => {
    const { api, registry, controller } = await deleting([
      { metadata: { namespace: 'a', name: 'x' } },
      { metadata: { namespace: 'b', name: 'y' } },
    ])
    await controller.idle()
    expect(api.list('widgets.example.com')).toEqual([])
    expect(api.get(DEFINITIONS, undefined, 'widgets.example.com')).toBeUndefined()
    expect(registry.versionsOf('widgets.example.com')).toEqual([])
  })

  it('waits for instances with finalizers, and rejects new ones meanwhile', async () => {
    const { api, registry, controller } = await deleting([
      { metadata: { namespace: 'a', name: 'x', finalizers: ['example.com/hold'] } },
    ])
    await controller.idle()
    expect(conditions(api).Terminating).toBe('True InstanceDeletionInProgress')
    const resource = registry.lookup('example.com', 'v1', 'widgets')
    if (resource === undefined) throw new Error('not served')
    const attributes = { operation: 'CREATE', resource, name: 'c', object: {} } as never
    expect(() => controller.admission.mutate?.(attributes)).toThrow(
      'widgets.example.com "c" is forbidden: create not allowed while custom resource definition is terminating',
    )
    const held = api.get('widgets.example.com', 'a', 'x') ?? {}
    await api.update('widgets.example.com', { ...held, metadata: { ...objectAt(held, 'metadata'), finalizers: [] } })
    await controller.idle()
    expect(api.get(DEFINITIONS, undefined, 'widgets.example.com')).toBeUndefined()
  })

  it('resumes after a restart', async () => {
    const api = fakeClusterApi({
      [DEFINITIONS]: [
        definition({
          metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [CLEANUP_FINALIZER] },
          status: { conditions: [{ type: 'Established', status: 'True' }] },
        }),
      ],
      'widgets.example.com': [{ metadata: { namespace: 'a', name: 'x' } }],
    })
    const { controller } = fixture([], api)
    await controller.idle()
    expect(api.list('widgets.example.com')).toEqual([])
    expect(api.list(DEFINITIONS)).toEqual([])
  })

  it('retries later and reports it in status when an instance cannot be deleted', async () => {
    const api = fakeClusterApi()
    const working = api.delete
    api.delete = async () => {
      throw new Error('webhook refuses')
    }
    const { controller, timers, errors } = fixture([], api)
    await create(api)
    api.put('widgets.example.com', { metadata: { namespace: 'a', name: 'x' } })
    const crd = api.get(DEFINITIONS, undefined, 'widgets.example.com') ?? {}
    const marked = markForDeletion(crd, 0)
    const metadata = { ...objectAt(marked, 'metadata'), deletionTimestamp: '2026-01-01T00:00:00Z' }
    api.put(DEFINITIONS, { ...marked, metadata })
    await controller.idle()
    expect(errors[0]).toMatchObject({ message: 'webhook refuses' })
    api.delete = working
    for (const timer of timers) timer.action()
    await controller.idle()
    expect(api.list(DEFINITIONS)).toEqual([])
  })
})
