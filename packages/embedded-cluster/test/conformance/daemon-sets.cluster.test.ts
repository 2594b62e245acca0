/** DaemonSets: one pod on every node that matches. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { pods, podTemplate, withImage } from './support/objects.ts'
import { labelled, settled } from './support/settling.ts'

const api = ConformanceApi.forThisFile()
const apps = (resource: string) => `/apis/apps/v1/namespaces/${api.namespace}/${resource}`

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
    await api.patch(path, withImage('registry.example.com/app:2'))
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
