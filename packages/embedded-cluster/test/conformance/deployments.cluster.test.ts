/** Deployments from the user's view: what they create, how they roll out, and their status. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { deployment, deployments, pods, podTemplate, withImage } from './support/objects.ts'
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

/** Changes the image, and waits until all pods have it. */
async function rollOutSecond(path: string): Promise<void> {
  await api.patch(path, withImage('registry.example.com/app:2'))
  const isSecond = (it: Json) => isRolledOut(it) && it.metadata.generation === 2
  await settled(api, 'the second version is rolled out', path, isSecond)
}

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
    await rollOutSecond(path)
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
      await api.patch(path, withImage(`registry.example.com/app:${tag}`))
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
    await rollOutSecond(path)
    await until('the old set is deleted', async () => (await labelled(api, apps('replicasets'), name)).length === 1)
  })

  it('stops all old pods first with the strategy Recreate', async () => {
    const name = unique('web')
    const path = `${deployments(api.namespace)}/${name}`
    await api.create(deployments(api.namespace), deployment(name, { replicas: 2, strategy: { type: 'Recreate' } }))
    await settled(api, 'it is rolled out', path, isRolledOut)
    const { resourceVersion } = (await api.get(pods(api.namespace))).body.metadata
    await rollOutSecond(path)
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
    await api.patch(path, withImage('registry.example.com/app:2'))
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
