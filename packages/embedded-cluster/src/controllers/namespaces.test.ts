import { afterEach, beforeEach, expect, it } from 'vitest'
import { StatusError } from '../status-error.ts'
import { findCondition } from './conditions.ts'
import type { ConfigMap, Namespace } from './kinds/cluster.ts'
import { deployment, pod } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster()
  await cluster.createNamespace('doomed')
  await cluster.settle()
})
afterEach(async () => {
  await cluster.stop()
})

function doomed(): Namespace | undefined {
  return cluster.of<Namespace>('namespaces').get('', 'doomed')
}

async function remove(): Promise<void> {
  await cluster.delete('namespaces', undefined, 'doomed')
  await cluster.settle()
}

function configMap(name: string, finalizers: string[] = []) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'doomed', finalizers } }
}

it('a terminating namespace is deleted after its content, including custom resources', async () => {
  await cluster.define('Widget', 'example.com')
  const metadata = { name: 'w', namespace: 'doomed' }
  await cluster.create('widgets.example.com', { apiVersion: 'example.com/v1', kind: 'Widget', metadata })
  await cluster.create('configmaps', configMap('settings'))
  const web = deployment('web')
  await cluster.deployments.create({ ...web, metadata: { ...web.metadata, namespace: 'doomed' } })
  await cluster.advance(10_000)
  expect(cluster.pods.list('doomed')).toHaveLength(3)
  await remove()
  await cluster.advance(60_000)
  expect(doomed()).toBeUndefined()
  for (const { resource, namespaced } of cluster.api.resources()) {
    if (namespaced) expect(cluster.api.list(resource, { namespace: 'doomed' })).toEqual([])
  }
  expect(cluster.problems).toEqual([])
  expect(cluster.clock.pendingTimers).toBe(0)
})

it('a terminating namespace does not affect others', async () => {
  await cluster.create('configmaps', { ...configMap('kept'), metadata: { name: 'kept', namespace: 'default' } })
  await remove()
  await cluster.advance(60_000)
  expect(cluster.of<ConfigMap>('configmaps').get('default', 'kept')).toBeDefined()
})

it('a terminating namespace reports what it waits for, and is deleted when that is done', async () => {
  await cluster.create('configmaps', configMap('held', ['example.com/hold']))
  await remove()
  await cluster.advance(10_000)
  const conditions = doomed()?.status?.conditions
  expect(doomed()?.status?.phase).toBe('Terminating')
  expect(findCondition(conditions, 'NamespaceDeletionContentFailure')?.status).toBe('False')
  expect(findCondition(conditions, 'NamespaceContentRemaining')).toMatchObject({
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: expect.stringContaining('configmaps (1)'),
  })
  expect(findCondition(conditions, 'NamespaceFinalizersRemaining')).toMatchObject({
    status: 'True',
    reason: 'SomeFinalizersRemain',
    message: expect.stringContaining('example.com/hold (1)'),
  })
  const { writes } = cluster.api
  await cluster.advance(3_600_000)
  expect(cluster.api.writes).toBe(writes)
  await cluster.change<ConfigMap>('configmaps', 'doomed/held', (map) => ({
    ...map,
    metadata: { ...map.metadata, finalizers: [] },
  }))
  await cluster.advance(1_000)
  expect(doomed()).toBeUndefined()
})

it('the pods of a terminating namespace are deleted before the objects they use', async () => {
  await cluster.create('configmaps', configMap('settings'))
  const slow = pod('slow', { annotations: { 'simulator.reeve.dev/stop-delay': '20s' } })
  await cluster.pods.create({ ...slow, metadata: { ...slow.metadata, namespace: 'doomed' } })
  await cluster.advance(5_000)
  await remove()
  await cluster.advance(10_000)
  expect(cluster.pods.get('doomed', 'slow')?.metadata.deletionTimestamp).toBeDefined()
  expect(cluster.of<ConfigMap>('configmaps').get('doomed', 'settings')).toBeDefined()
  await cluster.advance(20_000)
  expect(doomed()).toBeUndefined()
})

it('a terminating namespace reports objects that cannot be deleted, and they are retried', async () => {
  await cluster.create('configmaps', configMap('stubborn'))
  cluster.api.rejectWrite = (verb, resource) => {
    if (verb === 'delete' && resource === 'configmaps') throw new StatusError(403, 'Forbidden', 'denied by a webhook')
  }
  await remove()
  await cluster.advance(1_000)
  expect(findCondition(doomed()?.status?.conditions, 'NamespaceDeletionContentFailure')).toMatchObject({
    status: 'True',
    reason: 'ContentDeletionFailed',
    message: expect.stringContaining('denied by a webhook'),
  })
  expect(cluster.problems.map(({ controller }) => controller)).toContain('namespaces')
  cluster.api.rejectWrite = () => undefined
  await cluster.advance(600_000)
  expect(doomed()).toBeUndefined()
})

it('the deletion of a namespace resumes after a restart', async () => {
  await cluster.create('configmaps', configMap('held', ['example.com/hold']))
  await remove()
  await cluster.stop()
  await cluster.change<ConfigMap>('configmaps', 'doomed/held', (map) => ({
    ...map,
    metadata: { ...map.metadata, finalizers: [] },
  }))
  await cluster.restart()
  await cluster.advance(1_000)
  expect(doomed()).toBeUndefined()
})
