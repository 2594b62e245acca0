/** ResourceQuotas: what they report, and what they reject. */
import { beforeEach, describe, expect, it } from 'vitest'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { configMap, pod } from './support/objects.ts'
import { settled } from './support/settling.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
let namespace = ''
beforeEach(async () => {
  namespace = await api.newNamespace()
})
const core = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`

/** Creates a quota and waits until it is calculated. */
async function quota(name: string, hard: Json, rest: Json = {}): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard, ...rest } }
  await api.create(core('resourcequotas'), object)
  await settled(api, 'it is calculated', `${core('resourcequotas')}/${name}`, (it) => it.status.hard !== undefined)
}

async function uses(name: string, used: Json): Promise<void> {
  await settled(api, `it uses ${JSON.stringify(used)}`, `${core('resourcequotas')}/${name}`, ({ status }) =>
    Object.entries(used).every(([resource, amount]) => status.used?.[resource] === amount),
  )
}

const sized = (name: string, requests: Json, spec: Json = {}) =>
  pod(name, {
    spec: {
      containers: [{ name: 'main', image: 'registry.example.com/app:1', resources: { requests } }],
      // No node has this label, so that the pod keeps its state.
      nodeSelector: { 'example.com/none': 'true' },
      ...spec,
    },
  })

describe('a ResourceQuota', () => {
  it('reports its limits and what is used', async () => {
    await quota('all', {
      pods: '5',
      'requests.cpu': '2',
      'requests.memory': '1Gi',
      configmaps: '10',
      resourcequotas: '1',
    })
    const { body } = await api.get(`${core('resourcequotas')}/all`)
    expect(body.status.hard).toEqual(body.spec.hard)
    await uses('all', { pods: '0', 'requests.cpu': '0', 'requests.memory': '0', resourcequotas: '1' })
    await api.create(core('pods'), sized('first', { cpu: '500m', memory: '256Mi' }))
    await api.create(core('pods'), sized('second', { cpu: '0.25', memory: '256Mi' }))
    await uses('all', { pods: '2', 'requests.cpu': '750m', 'requests.memory': '512Mi' })
    await api.delete(`${core('pods')}/first`, { gracePeriodSeconds: 0 })
    await uses('all', { pods: '1', 'requests.cpu': '250m', 'requests.memory': '256Mi' })
  })

  it('rejects what would exceed it, and names every limit', async () => {
    await quota('small', { pods: '2', 'requests.cpu': '1' })
    await api.create(core('pods'), sized('first', { cpu: '600m' }))
    await uses('small', { pods: '1', 'requests.cpu': '600m' })
    const { status, body } = await api.post(core('pods'), sized('second', { cpu: '500m' }))
    expect(status).toBe(403)
    expect(body.message).toBe(
      'pods "second" is forbidden: exceeded quota: small, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
    )
  })

  it('requires the requests that it limits', async () => {
    await quota('strict', { 'requests.cpu': '1', 'limits.memory': '1Gi' })
    const { status, body } = await api.post(core('pods'), sized('first', { memory: '1Mi' }))
    expect(status).toBe(403)
    expect(body.message).toBe(
      'pods "first" is forbidden: failed quota: strict: must specify limits.memory for: main; requests.cpu for: main',
    )
  })

  it('never admits more than its limit, however many writes run at the same time', async () => {
    // Every namespace gets this ConfigMap. A quota that is calculated just before would not count it for minutes.
    const certificate = `${core('configmaps')}/kube-root-ca.crt`
    await settled(api, 'the root certificate', certificate, ({ kind }) => kind === 'ConfigMap')
    await quota('five', { 'count/configmaps': '5' })
    await uses('five', { 'count/configmaps': '1' })
    const names = Array.from({ length: 12 }, (_, index) => `concurrent-${index}`)
    const replies = await Promise.all(names.map((name) => api.post(core('configmaps'), configMap(name))))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(4)
    expect(replies.filter(({ status }) => status === 403)).toHaveLength(8)
    await uses('five', { 'count/configmaps': '5' })
  })

  it('counts ports and load balancers of Services, also when they change', async () => {
    await quota('services', { services: '5', 'services.nodeports': '1', 'services.loadbalancers': '0' })
    const service = (name: string, type: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { type, ports: [{ port: 80 }] },
    })
    await api.create(core('services'), service('inside', 'ClusterIP'))
    await api.create(core('services'), service('outside', 'NodePort'))
    await uses('services', { services: '2', 'services.nodeports': '1', 'services.loadbalancers': '0' })
    const balanced = await api.post(core('services'), service('balanced', 'LoadBalancer'))
    expect(balanced.status).toBe(403)
    const changed = await api.patch(`${core('services')}/inside`, { spec: { type: 'NodePort' } })
    expect(changed.status).toBe(403)
    expect(changed.body.message).toContain('exceeded quota: services, requested: services.nodeports=1')
  })

  it('counts the storage of claims, and that of each class', async () => {
    const gold = 'gold.storageclass.storage.k8s.io/requests.storage'
    await quota('storage', { persistentvolumeclaims: '3', 'requests.storage': '3Gi', [gold]: '1Gi' })
    const claim = (name: string, storageClassName: string) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
    })
    await api.create(core('persistentvolumeclaims'), claim('first', 'gold'))
    await uses('storage', { persistentvolumeclaims: '1', 'requests.storage': '1Gi', [gold]: '1Gi' })
    expect((await api.post(core('persistentvolumeclaims'), claim('second', 'gold'))).status).toBe(403)
    expect((await api.post(core('persistentvolumeclaims'), claim('third', 'silver'))).status).toBe(201)
  })

  it.each<[string, Json, Json, Json]>([
    ['BestEffort', { scopes: ['BestEffort'] }, {}, { cpu: '1' }],
    ['NotBestEffort', { scopes: ['NotBestEffort'] }, { cpu: '1' }, {}],
  ])('with the scope %s counts only such pods', async (_, scope, inside, outside) => {
    await quota('scoped', { pods: '5' }, scope)
    await api.create(core('pods'), sized('inside', inside))
    await api.create(core('pods'), sized('outside', outside))
    await uses('scoped', { pods: '1' })
  })

  it('with the scope Terminating counts only pods with a deadline', async () => {
    await quota('ending', { pods: '5' }, { scopes: ['Terminating'] })
    await quota('lasting', { pods: '5' }, { scopes: ['NotTerminating'] })
    await api.create(core('pods'), sized('short', {}, { activeDeadlineSeconds: 3600 }))
    await api.create(core('pods'), sized('long-one', {}))
    await api.create(core('pods'), sized('long-two', {}))
    await uses('ending', { pods: '1' })
    await uses('lasting', { pods: '2' })
  })

  it('limits the pods of a workload, which reports why', async () => {
    await quota('two', { pods: '2' })
    const set = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'web:1' }] } },
      },
    }
    const path = `/apis/apps/v1/namespaces/${namespace}/replicasets`
    await api.create(path, set)
    const limited = await settled(api, 'it fails', `${path}/web`, (it) => it.status.conditions !== undefined)
    expect(limited.status.conditions[0]).toMatchObject({ type: 'ReplicaFailure', reason: 'FailedCreate' })
    expect(limited.status.conditions[0].message).toContain('exceeded quota: two')
    await api.patch(`${core('resourcequotas')}/two`, { spec: { hard: { pods: '3' } } })
    await until('the third is created', async () => {
      return (await api.get(`${path}/web`)).body.status.replicas === 3
    })
  })
})
