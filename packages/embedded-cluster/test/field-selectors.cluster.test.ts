/** The selectable fields of each kind. Passes on both clusters. */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let cluster: ClusterUnderTest
beforeAll(async () => {
  cluster = await openCluster({ embedded: { controllers: false } })
})
afterAll(() => cluster.close())

const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const offered: Readonly<Record<string, readonly string[]>> = {
  '/api/v1/pods': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.podIPs',
    'status.nominatedNodeName',
  ],
  '/api/v1/nodes': ['spec.unschedulable'],
  '/api/v1/namespaces': ['status.phase'],
  '/api/v1/secrets': ['type'],
  '/api/v1/services': ['spec.clusterIP', 'spec.type'],
  '/api/v1/replicationcontrollers': ['status.replicas'],
  '/api/v1/events': [
    ...involved.map((field) => `involvedObject.${field}`),
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  '/apis/events.k8s.io/v1/events': [
    ...involved.map((field) => `regarding.${field}`),
    'reason',
    'reportingController',
    'type',
  ],
  '/apis/batch/v1/jobs': ['status.successful'],
  '/apis/certificates.k8s.io/v1/certificatesigningrequests': ['spec.signerName'],
  '/apis/resource.k8s.io/v1/resourceslices': ['spec.driver', 'spec.nodeName'],
  '/apis/apps/v1/deployments': [],
  '/api/v1/configmaps': [],
}
const all = [...new Set(Object.values(offered).flat()), 'metadata.name', 'metadata.namespace', 'spec.replicas']
const clusterScoped = /\/(nodes|namespaces|certificatesigningrequests|resourceslices)$/

describe('field selectors', () => {
  it.each(Object.entries(offered))('of %s support exactly their fields', async (path, own) => {
    const expected = [...own, 'metadata.name', ...(clusterScoped.test(path) ? [] : ['metadata.namespace'])]
    const known: string[] = []
    for (const field of all) {
      const { status } = await cluster.raw.send({ path: `${path}?fieldSelector=${field}%3Dnothing` })
      if (status === 200) known.push(field)
      else expect(status).toBe(400)
    }
    expect(known.toSorted()).toEqual(expected.toSorted())
  })

  it.each([
    ['/api/v1/pods', 'field label not supported: spec.color'],
    ['/apis/batch/v1/jobs', 'field label "spec.color" not supported for Job'],
    [
      '/apis/apps/v1/deployments',
      '"spec.color" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    [
      '/apis/resource.k8s.io/v1/resourceslices',
      'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.color',
    ],
  ])('of %s report unsupported fields', async (path, message) => {
    const response = await cluster.raw.send({ path: `${path}?fieldSelector=spec.color%3Dred` })
    expect(response.status).toBe(400)
    expect(response.json()).toMatchObject({ reason: 'BadRequest', message })
  })
})
