import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ConfigMap, ServiceAccount } from './kinds/cluster.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ nodes: 0, rootCertificate: 'PEM' })
  await cluster.createNamespace('team')
  await cluster.settle()
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

const certificate = () => cluster.of<ConfigMap>('configmaps').get('team', 'kube-root-ca.crt')
const account = () => cluster.of<ServiceAccount>('serviceaccounts').get('team', 'default')

it('every namespace gets a default service account and the root certificate', () => {
  expect(account()).toBeDefined()
  expect(certificate()?.data).toEqual({ 'ca.crt': 'PEM' })
})

it('the default service account and the root certificate are recreated when they are deleted', async () => {
  const [first, map] = [account(), certificate()]
  if (first === undefined || map === undefined) throw new Error('not there')
  await cluster.of<ServiceAccount>('serviceaccounts').delete(first)
  await cluster.of<ConfigMap>('configmaps').delete(map)
  await cluster.settle()
  expect(account()?.metadata.uid).not.toBe(first.metadata.uid)
  expect(certificate()?.data).toEqual({ 'ca.crt': 'PEM' })
})

it('the root certificate is restored when it is changed', async () => {
  await cluster.change<ConfigMap>('configmaps', 'team/kube-root-ca.crt', (map) => ({ ...map, data: { 'ca.crt': 'x' } }))
  await cluster.settle()
  expect(certificate()?.data).toEqual({ 'ca.crt': 'PEM' })
})

it('a namespace that is being deleted gets no service account', async () => {
  await cluster.create('configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'held', namespace: 'team', finalizers: ['example.com/hold'] },
  })
  await cluster.delete('namespaces', undefined, 'team')
  await cluster.advance(10_000)
  expect(account()).toBeUndefined()
})
