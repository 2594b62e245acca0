/** StatefulSets: the order and the identity of their pods, and their claims. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { pods, podTemplate, withImage } from './support/objects.ts'
import { labelled, settled } from './support/settling.ts'
import { until } from './support/until.ts'
import { WatchStream } from './support/watch-stream.ts'

const api = ConformanceApi.forThisFile()
const apps = (resource: string) => `/apis/apps/v1/namespaces/${api.namespace}/${resource}`
const core = (resource: string) => `/api/v1/namespaces/${api.namespace}/${resource}`

describe.concurrent('a StatefulSet', () => {
  const statefulSet = (name: string, spec: Json = {}) => ({
    metadata: { name },
    spec: {
      serviceName: name,
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: podTemplate(name),
      ...spec,
    },
  })
  const isReady = ({ metadata, spec, status }: Json) =>
    status.observedGeneration === metadata.generation &&
    (status.readyReplicas ?? 0) === spec.replicas &&
    (status.replicas ?? 0) === spec.replicas &&
    status.currentRevision === status.updateRevision

  it('starts its pods one after the other, each when the previous one is ready', async () => {
    const name = unique('db')
    const { resourceVersion } = (await api.get(pods(api.namespace))).body.metadata
    await api.create(apps('statefulsets'), statefulSet(name))
    await settled(api, 'it is ready', `${apps('statefulsets')}/${name}`, isReady)
    const query = `watch=true&labelSelector=app%3D${name}&resourceVersion=${resourceVersion}`
    await using stream = new WatchStream(api, `${pods(api.namespace)}?${query}`)
    const story: string[] = []
    while (!story.includes(`${name}-2 ready`)) {
      const { type, object } = await stream.next()
      const isNowReady = (object.status.conditions ?? []).some((c: Json) => c.type === 'Ready' && c.status === 'True')
      const line = `${object.metadata.name} ${type === 'ADDED' ? 'made' : isNowReady ? 'ready' : ''}`
      if (!line.endsWith(' ') && !story.includes(line)) story.push(line)
    }
    expect(story).toEqual([0, 1, 2].flatMap((index) => [`${name}-${index} made`, `${name}-${index} ready`]))
  })

  it('whose pod is rejected reports its observed generation and no pods', async () => {
    const name = unique('db')
    const template = podTemplate(name, { spec: { serviceAccountName: 'nobody' } })
    await api.create(apps('statefulsets'), statefulSet(name, { template }))
    const path = `${apps('statefulsets')}/${name}`
    const { status } = await settled(api, 'it is observed', path, (it) => it.status.observedGeneration === 1)
    expect(status).toMatchObject({ replicas: 0, updateRevision: expect.stringMatching(`^${name}-`) })
  })

  it('assigns a name, a host name and an index to each pod', async () => {
    const name = unique('db')
    await api.create(apps('statefulsets'), statefulSet(name, { replicas: 2 }))
    const { status } = await settled(api, 'it is ready', `${apps('statefulsets')}/${name}`, isReady)
    const own = await labelled(api, pods(api.namespace), name)
    expect(own).toHaveLength(2)
    for (const [index, one] of own.entries()) {
      expect(one).toMatchObject({
        metadata: {
          name: `${name}-${index}`,
          labels: {
            'apps.kubernetes.io/pod-index': `${index}`,
            'statefulset.kubernetes.io/pod-name': `${name}-${index}`,
            'controller-revision-hash': status.currentRevision,
          },
        },
        spec: { hostname: `${name}-${index}`, subdomain: name },
      })
    }
  })

  it('recreates a lost pod with the same name', async () => {
    const name = unique('db')
    await api.create(apps('statefulsets'), statefulSet(name, { replicas: 1 }))
    await settled(api, 'it is ready', `${apps('statefulsets')}/${name}`, isReady)
    const [{ metadata }] = await labelled(api, pods(api.namespace), name)
    await api.delete(`${pods(api.namespace)}/${name}-0`)
    await until('the pod exists again', async () => {
      const { status, body } = await api.get(`${pods(api.namespace)}/${name}-0`)
      return status === 200 && body.metadata.uid !== metadata.uid
    })
  })

  it('deletes the last pods first', async () => {
    const name = unique('db')
    await api.create(apps('statefulsets'), statefulSet(name))
    await settled(api, 'it is ready', `${apps('statefulsets')}/${name}`, isReady)
    await api.patch(`${apps('statefulsets')}/${name}`, { spec: { replicas: 1 } })
    await settled(api, 'it is smaller', `${apps('statefulsets')}/${name}`, isReady)
    expect((await labelled(api, pods(api.namespace), name)).map(({ metadata }) => metadata.name)).toEqual([`${name}-0`])
  })

  it('rolls out a new template from the last pod to the first', async () => {
    const name = unique('db')
    const path = `${apps('statefulsets')}/${name}`
    await api.create(apps('statefulsets'), statefulSet(name, { replicas: 2 }))
    const before = await settled(api, 'it is ready', path, isReady)
    const { resourceVersion } = (await api.get(pods(api.namespace))).body.metadata
    await api.patch(path, withImage('registry.example.com/app:2'))
    const after = await settled(api, 'it is rolled out', path, (it) => isReady(it) && it.metadata.generation === 2)
    expect(after.status.currentRevision).not.toBe(before.status.currentRevision)
    const query = `watch=true&labelSelector=app%3D${name}&resourceVersion=${resourceVersion}`
    await using stream = new WatchStream(api, `${pods(api.namespace)}?${query}`)
    const made: string[] = []
    while (made.length < 2) {
      const { type, object } = await stream.next()
      if (type === 'ADDED') made.push(object.metadata.name)
    }
    expect(made).toEqual([`${name}-1`, `${name}-0`])
  })

  it('creates a claim for each pod and keeps it', async () => {
    const name = unique('db')
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    await api.create(apps('statefulsets'), statefulSet(name, { replicas: 1, volumeClaimTemplates: [claim] }))
    const { body } = await until('the claim', async () => {
      const response = await api.get(`${core('persistentvolumeclaims')}/data-${name}-0`)
      return response.status === 200 ? response : undefined
    })
    expect(body.metadata.labels).toEqual({ app: name })
    const { spec } = await until('the pod', async () => (await labelled(api, pods(api.namespace), name))[0])
    expect(spec.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: `data-${name}-0` } })
    await api.delete(`${apps('statefulsets')}/${name}`)
    await until('the pod is deleted', async () => (await labelled(api, pods(api.namespace), name)).length === 0)
    expect((await api.get(`${core('persistentvolumeclaims')}/data-${name}-0`)).status).toBe(200)
  })
})
