/** ReplicationControllers: the pods they create, adopt, release and keep. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { pod, podTemplate } from './support/objects.ts'
import { labelled, settled } from './support/settling.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const core = (resource: string) => `/api/v1/namespaces/${api.namespace}/${resource}`

describe.concurrent('a ReplicationController', () => {
  const controller = (name: string, spec: Json = {}) => ({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name },
    spec: { replicas: 2, selector: { app: name }, template: podTemplate(name), ...spec },
  })

  it('creates its pods, scales them and releases those that no longer match', async () => {
    const name = unique('rc')
    const path = `${core('replicationcontrollers')}/${name}`
    const { metadata } = await api.create(core('replicationcontrollers'), controller(name))
    const ready = await settled(api, 'its pods are ready', path, (it) => it.status.availableReplicas === 2)
    expect(ready.status).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      observedGeneration: 1,
    })
    const [first] = await labelled(api, core('pods'), name)
    expect(first.metadata).toMatchObject({
      generateName: `${name}-`,
      ownerReferences: [{ apiVersion: 'v1', kind: 'ReplicationController', name, uid: metadata.uid, controller: true }],
    })
    await api.patch(`${core('pods')}/${first.metadata.name}`, { metadata: { labels: { app: 'released' } } })
    await settled(api, 'the pod is released', `${core('pods')}/${first.metadata.name}`, (it) => {
      return it.metadata.ownerReferences === undefined
    })
    await until('it is replaced', async () => (await labelled(api, core('pods'), name)).length === 2)
    await api.patch(`${path}/scale`, { spec: { replicas: 1 } })
    await until('one is left', async () => (await labelled(api, core('pods'), name)).length === 1)
  })

  it('adopts a matching pod without an owner', async () => {
    const name = unique('rc')
    const { metadata: orphan } = await api.create(core('pods'), {
      ...pod(name),
      metadata: { name, labels: { app: name } },
    })
    const { metadata } = await api.create(core('replicationcontrollers'), controller(name, { replicas: 1 }))
    const adopted = await settled(api, 'it is adopted', `${core('pods')}/${name}`, (it) => {
      return it.metadata.ownerReferences !== undefined
    })
    expect(adopted.metadata.ownerReferences[0].uid).toBe(metadata.uid)
    expect((await labelled(api, core('pods'), name)).map((it) => it.metadata.uid)).toEqual([orphan.uid])
  })

  it('keeps its pods when it is deleted with Orphan', async () => {
    const name = unique('rc')
    const path = `${core('replicationcontrollers')}/${name}`
    await api.create(core('replicationcontrollers'), controller(name))
    await settled(api, 'its pods are ready', path, (it) => it.status.availableReplicas === 2)
    await api.delete(path, { propagationPolicy: 'Orphan' })
    await until('it is deleted', async () => (await api.get(path)).status === 404)
    const kept = await labelled(api, core('pods'), name)
    expect(kept.map((it) => it.metadata.ownerReferences)).toEqual([undefined, undefined])
  })
})
