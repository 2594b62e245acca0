import { type KubeObject, resource, Services, type Stored } from '@reeve/kube'
import { expect, it } from 'vitest'
import { OnDemandView } from './kinds-on-demand.ts'

const KnativeServices = resource<KubeObject>({
  group: 'serving.knative.dev',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
})
const key = { namespace: 'shop', name: 'web' }
const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Shop', name: 'web', uid: 'owner', controller: true }]
const service = (apiVersion: string): Stored<KubeObject> => ({
  ...{ apiVersion, kind: 'Service' },
  metadata: { ...key, uid: apiVersion, resourceVersion: '1', creationTimestamp: '', ownerReferences },
})

it('kinds of one name in two groups are distinguished', () => {
  const view = new OnDemandView([Services, KnativeServices], [service('v1'), service('serving.knative.dev/v1')])
  const live = view.over({
    get: () => undefined,
    list: () => [],
    byIndex: () => [],
    ownedBy: () => [],
    selects: () => true,
  })
  for (const [of, uid] of [[Services, 'v1'] as const, [KnativeServices, 'serving.knative.dev/v1'] as const]) {
    expect(live.get<KubeObject>(of, key)?.metadata.uid).toBe(uid)
    expect(live.ownedBy<KubeObject>(of, 'owner').map(({ metadata }) => metadata.uid)).toEqual([uid])
  }
  view.record([
    { type: 'deleted', resource: KnativeServices, object: service('serving.knative.dev/v1'), differences: [] },
  ])
  expect(live.get(KnativeServices, key)).toBeUndefined()
  expect(live.get(Services, key)).toBeDefined()
})
