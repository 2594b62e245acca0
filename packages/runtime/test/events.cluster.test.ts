import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findClientBinary } from '@reeve/client-binaries'
import { ConfigMaps, Events, EventsV1 } from '@reeve/kube'
import { ApiEventRecorder } from '@reeve/runtime/events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

let world: TestCluster
beforeAll(async () => {
  world = await openTestCluster()
})
afterAll(() => world.close())

test('recorded events are seen by kubectl and through both event APIs', async ({ skip }) => {
  const { client, namespace, cluster } = world
  const metadata = { namespace, name: 'subject' }
  const object = await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  const events = new ApiEventRecorder(client, { component: 'webapp-operator', instance: 'pod-1' })
  for (let turn = 0; turn < 3; turn++) events.record(object, { reason: 'ScaledUp', message: 'scaled to 3 replicas' })
  events.record(object, { type: 'Warning', reason: 'ImageMissing', message: 'no such image', action: 'Pull' })
  await events.run(AbortSignal.abort())
  const again = new ApiEventRecorder(client, { component: 'webapp-operator', instance: 'pod-1' })
  again.record(object, { reason: 'ScaledUp', message: 'scaled to 3 replicas' })
  await again.run(AbortSignal.abort())

  const fieldSelector = `involvedObject.uid=${object.metadata.uid}`
  const core = await client.listAll(Events, { namespace, fieldSelector })
  expect(core.items.map(({ reason, count }) => [reason, count]).toSorted()).toEqual([
    ['ImageMissing', 1],
    ['ScaledUp', 1],
    ['ScaledUp', 3],
  ])
  const modern = await client.listAll(EventsV1, { namespace })
  const warning = modern.items.find(({ type }) => type === 'Warning')
  expect(warning).toMatchObject({
    note: 'no such image',
    action: 'Pull',
    regarding: { name: 'subject' },
    reportingController: 'webapp-operator',
  })

  const kubectl = await findClientBinary('kubectl')
  if (kubectl === undefined) return skip('there is no kubectl on this machine')
  const described = await promisify(execFile)(kubectl, ['describe', 'configmap', 'subject', '-n', namespace], {
    env: { PATH: '', HOME: '/tmp', KUBECONFIG: cluster.kubeconfigPath },
  })
  expect(described.stdout).toMatch(/Warning +ImageMissing +\S+ +webapp-operator +no such image/)
  expect(described.stdout).toMatch(/Normal +ScaledUp +\S+ \(x3 over \S+\) +webapp-operator +scaled to 3 replicas/)
})
