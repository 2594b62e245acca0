import { expect, test } from 'vitest'
import { startEmbeddedCluster } from './index.ts'

test('the Service of the API server has an endpoint', async () => {
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false })
  const get = (resource: string) => cluster.api.get(resource, 'default', 'kubernetes')
  expect(get('services')).toMatchObject({ spec: { clusterIP: '10.96.0.1' } })
  expect(get('endpoints')).toMatchObject({ subsets: [{ addresses: [{ ip: '172.18.0.1' }], ports: [{ port: 6443 }] }] })
  expect(get('endpointslices.discovery.k8s.io')).toMatchObject({ endpoints: [{ addresses: ['172.18.0.1'] }] })
  await cluster.stop()
})
