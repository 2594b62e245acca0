/** Workloads from the user's view: what they create, how they roll out, and their status. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { deployment, deployments, pod, pods, podTemplate } from './support/objects.ts'
import { NEVER_READY, NO_IMAGE } from './support/pod-behaviour.ts'
import { conditionsOf, labelled, settled } from './support/settling.ts'
import { until } from './support/until.ts'
import { WatchStream } from './support/watch-stream.ts'

const api = ConformanceApi.forThisFile()
const apps = (resource: string) => `/apis/apps/v1/namespaces/${api.namespace}/${resource}`
const core = (resource: string) => `/api/v1/namespaces/${api.namespace}/${resource}`

const isRolledOut = ({ metadata, spec, status }: Json) =>
  status.observedGeneration === metadata.generation &&
  (status.updatedReplicas ?? 0) === spec.replicas &&
  (status.replicas ?? 0) === spec.replicas &&
  (status.availableReplicas ?? 0) === spec.replicas

const image = (tag: string) => ({ spec: { template: { spec: { containers: [{ name: 'main', image: tag }] } } } })

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

describe.concurrent('a Deployment', () => {
  it('creates a ReplicaSet, which creates its pods, each named after its owner', async () => {
    const name = unique('web')
    await api.create(deployments(api.namespace), deployment(name, { replicas: 3 }))
    const { metadata, status } = await settled(
      api,
      'it is rolled out',
      `${deployments(api.namespace)}/${name}`,
      isRolledOut,
    )
    expect(status).toMatchObject({ replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 })
    expect(metadata).toMatchObject({ generation: 1, annotations: { 'deployment.kubernetes.io/revision': '1' } })
    const [set] = await labelled(api, apps('replicasets'), name)
    const hash = set.metadata.labels['pod-template-hash']
    expect(set.metadata).toMatchObject({
      name: `${name}-${hash}`,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid: metadata.uid, controller: true }],
      annotations: {
        'deployment.kubernetes.io/desired-replicas': '3',
        'deployment.kubernetes.io/max-replicas': '4',
        'deployment.kubernetes.io/revision': '1',
      },
    })
    expect(set.spec.selector.matchLabels).toEqual({ app: name, 'pod-template-hash': hash })
    const own = await labelled(api, pods(api.namespace), name)
    expect(own).toHaveLength(3)
    for (const one of own) {
      expect(one.metadata).toMatchObject({
        name: expect.stringMatching(new RegExp(`^${name}-${hash}-[bcdfghjklmnpqrstvwxz2456789]{5}$`)),
        generateName: `${name}-${hash}-`,
        labels: { app: name, 'pod-template-hash': hash },
        ownerReferences: [{ kind: 'ReplicaSet', name: set.metadata.name, controller: true, blockOwnerDeletion: true }],
      })
    }
  })

  it('continues after the revision of an adopted ReplicaSet, however large it is', async () => {
    const name = unique('web')
    const labels = { app: name }
    await api.create(apps('replicasets'), {
      metadata: {
        name: `${name}-old`,
        labels,
        annotations: { 'deployment.kubernetes.io/revision': '3546343826724305832' },
      },
      spec: { replicas: 0, selector: { matchLabels: labels }, template: podTemplate(name) },
    })
    const image = 'registry.example.com/app:new'
    const template = podTemplate(name, { spec: { containers: [{ name: 'main', image }] } })
    await api.create(deployments(api.namespace), deployment(name, { template }))
    const numbered = await settled(
      api,
      'it has a revision',
      `${deployments(api.namespace)}/${name}`,
      ({ metadata }) => {
        return metadata.annotations?.['deployment.kubernetes.io/revision'] !== undefined
      },
    )
    expect(numbered.metadata.annotations['deployment.kubernetes.io/revision']).toBe('3546343826724305833')
  })

  it('reports that it is available and complete', async () => {
    const name = unique('web')
    await api.create(deployments(api.namespace), deployment(name, { replicas: 1 }))
    const rolledOut = await settled(api, 'it is rolled out', `${deployments(api.namespace)}/${name}`, isRolledOut)
    expect(conditionsOf(rolledOut)).toEqual([
      'Available True MinimumReplicasAvailable',
      'Progressing True NewReplicaSetAvailable',
    ])
  })

  it('rolls out a new template with a new ReplicaSet and keeps the old one, empty', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 2 }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    await api.patch(path, image('registry.example.com/app:2'))
    await settled(
      api,
      'the second version is rolled out',
      path,
      (it) => isRolledOut(it) && it.metadata.generation === 2,
    )
    const sets = await labelled(api, apps('replicasets'), name)
    const shown = sets.map(({ metadata, spec }) => [
      metadata.annotations['deployment.kubernetes.io/revision'],
      spec.replicas,
      spec.template.spec.containers[0].image,
    ])
    expect(shown.sort()).toEqual([
      ['1', 0, 'registry.example.com/app:1'],
      ['2', 2, 'registry.example.com/app:2'],
    ])
  })

  it('reuses an old ReplicaSet when the old template is restored', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 1 }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    const [first] = await labelled(api, apps('replicasets'), name)
    for (const tag of ['2', '1']) {
      await api.patch(path, image(`registry.example.com/app:${tag}`))
      await settled(api, `version ${tag} is rolled out`, path, isRolledOut)
    }
    const sets = await labelled(api, apps('replicasets'), name)
    expect(sets).toHaveLength(2)
    const again = sets.find(({ metadata }) => metadata.uid === first.metadata.uid)
    expect(again.spec.replicas).toBe(1)
    expect(again.metadata.annotations['deployment.kubernetes.io/revision']).toBe('3')
  })

  it('keeps no more old ReplicaSets than its limit', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 1, revisionHistoryLimit: 0 }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    await api.patch(path, image('registry.example.com/app:2'))
    await settled(
      api,
      'the second version is rolled out',
      path,
      (it) => isRolledOut(it) && it.metadata.generation === 2,
    )
    await until('the old set is deleted', async () => (await labelled(api, apps('replicasets'), name)).length === 1)
  })

  it('stops all old pods first with the strategy Recreate', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 2, strategy: { type: 'Recreate' } }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    const { resourceVersion } = (await api.get(pods(api.namespace))).body.metadata
    await api.patch(path, image('registry.example.com/app:2'))
    await settled(
      api,
      'the second version is rolled out',
      path,
      (it) => isRolledOut(it) && it.metadata.generation === 2,
    )
    const query = `watch=true&labelSelector=app%3D${name}&resourceVersion=${resourceVersion}`
    await using stream = new WatchStream(api, `${pods(api.namespace)}?${query}`)
    const over = new Set<string>()
    for (;;) {
      const { type, object } = await stream.next()
      if (type === 'ADDED') break
      const hasEnded = type === 'DELETED' || ['Succeeded', 'Failed'].includes(object.status.phase)
      if (hasEnded) over.add(object.metadata.name)
    }
    expect(over.size).toBe(2)
  })

  it('scales through its subresource', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 1 }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    await api.patch(`${path}/scale`, { spec: { replicas: 3 } })
    await settled(api, 'three are ready', path, (it) => isRolledOut(it) && it.status.replicas === 3)
    await api.patch(`${path}/scale`, { spec: { replicas: 0 } })
    await until('none are left', async () => (await labelled(api, pods(api.namespace), name)).length === 0)
    expect(await labelled(api, apps('replicasets'), name)).toHaveLength(1)
  })

  it('that is paused changes nothing until it is resumed', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 1 }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    await api.patch(path, { spec: { paused: true } })
    await api.patch(path, image('registry.example.com/app:2'))
    const paused = await settled(
      api,
      'it is observed',
      path,
      (it) => it.status.observedGeneration === it.metadata.generation,
    )
    expect(conditionsOf(paused)).toContain('Progressing Unknown DeploymentPaused')
    expect(await labelled(api, apps('replicasets'), name)).toHaveLength(1)
    await api.patch(path, { spec: { paused: false } })
    await settled(api, 'it is resumed', path, isRolledOut)
    expect(await labelled(api, apps('replicasets'), name)).toHaveLength(2)
  })

  it('whose pods never become ready exceeds its deadline and keeps the old ones', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 2, progressDeadlineSeconds: 2 }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    await api.patch(path, { spec: { template: { metadata: { annotations: NEVER_READY } } } })
    const stuck = await settled(api, 'the deadline passes', path, (it) =>
      conditionsOf(it).includes('Progressing False ProgressDeadlineExceeded'),
    )
    expect(stuck.status).toMatchObject({ readyReplicas: 2, availableReplicas: 2, updatedReplicas: 1 })
    expect(conditionsOf(stuck)).toContain('Available True MinimumReplicasAvailable')
  })

  it('without a ready pod is not available', async () => {
    const name = unique('web')
    const template = podTemplate(name, { metadata: { annotations: NO_IMAGE, labels: { app: name } } })
    await api.create(deployments(api.namespace), deployment(name, { replicas: 1, template }))
    const path = `${deployments(api.namespace)}/${name}`
    const waiting = await settled(api, 'its pod exists', path, (it) => it.status.unavailableReplicas === 1)
    expect(conditionsOf(waiting)).toContain('Available False MinimumReplicasUnavailable')
    const [one] = await until('the container waits', async () => {
      const found = await labelled(api, pods(api.namespace), name)
      return found[0]?.status.containerStatuses?.[0]?.state.waiting?.reason === 'ImagePullBackOff' && found
    })
    expect(one.status).toMatchObject({ phase: 'Pending', containerStatuses: [{ ready: false, restartCount: 0 }] })
  })

  it('replaces a pod that was deleted', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 1 }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    const [first] = await labelled(api, pods(api.namespace), name)
    await api.delete(`${pods(api.namespace)}/${first.metadata.name}?gracePeriodSeconds=0`)
    await until('another pod is ready', async () => {
      const [one, more] = await labelled(api, pods(api.namespace), name)
      return more === undefined && one !== undefined && one.metadata.uid !== first.metadata.uid
    })
  })

  it('records its scaling as an event', async () => {
    const name = unique('web')
    await api.create(deployments(api.namespace), deployment(name, { replicas: 2 }))
    const [event] = await until('the event', async () => {
      const { items } = (await api.get(`${core('events')}?fieldSelector=involvedObject.name%3D${name}`)).body
      return items.length > 0 && items
    })
    expect(event).toMatchObject({
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message: expect.stringMatching(/^Scaled up replica set .* from 0 to 2$/),
      involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    })
  })
})

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
    await api.patch(path, image('registry.example.com/app:2'))
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

describe.concurrent('a DaemonSet', () => {
  const daemonSet = (name: string, template: Json = podTemplate(name)) => ({
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template },
  })

  it('runs one pod on every node', async () => {
    const name = unique('agent')
    await api.create(apps('daemonsets'), daemonSet(name))
    const { status } = await settled(
      api,
      'all are ready',
      `${apps('daemonsets')}/${name}`,
      (it) => it.status.numberAvailable >= 3,
    )
    expect(status).toMatchObject({
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      updatedNumberScheduled: 3,
      numberReady: 3,
      numberMisscheduled: 0,
    })
    const own = await labelled(api, pods(api.namespace), name)
    expect(own.map(({ spec }) => spec.nodeName).sort()).toEqual(['node-1', 'node-2', 'node-3'])
    expect(own[0].metadata.labels).toEqual({
      app: name,
      'controller-revision-hash': expect.any(String),
      'pod-template-generation': '1',
    })
    expect(own[0].spec.tolerations.map(({ key }: Json) => key).sort()).toEqual([
      'node.kubernetes.io/disk-pressure',
      'node.kubernetes.io/memory-pressure',
      'node.kubernetes.io/not-ready',
      'node.kubernetes.io/pid-pressure',
      'node.kubernetes.io/unreachable',
      'node.kubernetes.io/unschedulable',
    ])
  })

  it('runs only where its selector matches', async () => {
    const name = unique('agent')
    const nodeSelector = { 'kubernetes.io/hostname': 'node-2' }
    await api.create(apps('daemonsets'), daemonSet(name, podTemplate(name, { spec: { nodeSelector } })))
    const { status } = await settled(
      api,
      'it is ready',
      `${apps('daemonsets')}/${name}`,
      (it) => it.status.numberAvailable === 1,
    )
    expect(status.desiredNumberScheduled).toBe(1)
    expect((await labelled(api, pods(api.namespace), name)).map(({ spec }) => spec.nodeName)).toEqual(['node-2'])
  })

  it('whose pods are rejected reports how many it needs', async () => {
    const name = unique('agent')
    const template = podTemplate(name, { spec: { serviceAccountName: 'nobody' } })
    await api.create(apps('daemonsets'), daemonSet(name, template))
    const path = `${apps('daemonsets')}/${name}`
    const { status } = await settled(api, 'it is observed', path, (it) => it.status.observedGeneration === 1)
    expect(status).toMatchObject({ desiredNumberScheduled: 3, currentNumberScheduled: 0, numberUnavailable: 3 })
  })

  it('replaces its pods when its template changes', async () => {
    const name = unique('agent')
    const path = `${apps('daemonsets')}/${name}`
    const nodeSelector = { 'kubernetes.io/hostname': 'node-1' }
    await api.create(apps('daemonsets'), daemonSet(name, podTemplate(name, { spec: { nodeSelector } })))
    await settled(api, 'it is ready', path, (it) => it.status.numberAvailable === 1)
    await api.patch(path, image('registry.example.com/app:2'))
    await settled(api, 'it is updated', path, ({ metadata, status }) => {
      return (
        status.observedGeneration === metadata.generation &&
        status.updatedNumberScheduled === 1 &&
        status.numberAvailable === 1
      )
    })
    const images = (await labelled(api, pods(api.namespace), name)).map(({ spec }) => spec.containers[0].image)
    expect(images).toContain('registry.example.com/app:2')
  })
})
