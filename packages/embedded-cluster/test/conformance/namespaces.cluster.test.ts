/** Namespaces: their initial content, and their deletion. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments, normalised, pods } from './support/objects.ts'
import { failure, methodNotAllowed, notFound } from './support/status.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const path = (name: string) => `/api/v1/namespaces/${name}`
const isGone = async (of: string) => (await api.get(of)).status === 404

describe('a new namespace', () => {
  it('is active, has its name as a label and a finalizer for the namespace controller', async () => {
    const name = unique('new')
    const { status, body } = await api.post('/api/v1/namespaces', { metadata: { name } })
    expect(status).toBe(201)
    expect(normalised(body)).toEqual({
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        name,
        uid: '<uid>',
        resourceVersion: '<resourceVersion>',
        creationTimestamp: '<creationTimestamp>',
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
    await api.delete(path(name))
  })

  it('gets a service account and the certificate of the cluster', async () => {
    const name = await api.newNamespace()
    await until('the service account', async () => !(await isGone(`${path(name)}/serviceaccounts/default`)))
    const { body } = await until('the certificate', async () => {
      const response = await api.get(`${configMaps(name)}/kube-root-ca.crt`)
      return response.status === 200 ? response : undefined
    })
    expect(body.data['ca.crt']).toMatch(/^-----BEGIN CERTIFICATE-----/)
  })

  it('gets both again when they are deleted', async () => {
    const name = await api.newNamespace()
    for (const of of [`${path(name)}/serviceaccounts/default`, `${configMaps(name)}/kube-root-ca.crt`]) {
      const { uid } = (
        await until('it exists', async () => {
          const response = await api.get(of)
          return response.status === 200 ? response : undefined
        })
      ).body.metadata
      await api.delete(of)
      await until('it exists again', async () => {
        const { status, body } = await api.get(of)
        return status === 200 && body.metadata.uid !== uid
      })
    }
  })

  it('keeps the label with its name', async () => {
    const name = await api.newNamespace()
    const { body } = await api.patch(path(name), {
      metadata: { labels: { 'kubernetes.io/metadata.name': null, mine: 'x' } },
    })
    expect(body.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': name, mine: 'x' })
  })

  it('keeps its finalizers unless they are written through their subresource', async () => {
    const name = await api.newNamespace()
    const { body } = await api.patch(path(name), { spec: { finalizers: [] } })
    expect(body.spec.finalizers).toEqual(['kubernetes'])
    const written = await api.put(`${path(name)}/finalize`, {
      metadata: { name },
      spec: { finalizers: ['kubernetes', 'example.com/more'] },
    })
    expect(written.status).toBe(200)
    expect((await api.get(path(name))).body.spec.finalizers).toEqual(['kubernetes', 'example.com/more'])
    await api.put(`${path(name)}/finalize`, { metadata: { name }, spec: { finalizers: ['kubernetes'] } })
  })
})

describe('the initial namespaces', () => {
  it.each(['default', 'kube-system', 'kube-public', 'kube-node-lease'])('include %s', async (name) => {
    expect((await api.get(path(name))).body.status).toEqual({ phase: 'Active' })
  })

  it.each(['default', 'kube-system', 'kube-public'])('do not allow the deletion of %s', async (name) => {
    const { status, body } = await api.delete(path(name))
    expect(status).toBe(403)
    expect(body).toEqual(
      failure({
        code: 403,
        reason: 'Forbidden',
        message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
        details: { name, kind: 'namespaces' },
      }),
    )
  })

  it('cannot be deleted as a collection', async () => {
    const { status, body } = await api.delete('/api/v1/namespaces')
    expect(status).toBe(405)
    expect(body).toEqual(methodNotAllowed)
  })
})

// The real controller waits five seconds, so these cases run concurrently.
describe.concurrent('a deleted namespace', () => {
  /** A namespace that is being deleted, with a ConfigMap that has a finalizer. */
  async function leaving(): Promise<{ name: string; release: () => Promise<unknown> }> {
    const name = await api.newNamespace()
    await api.create(configMaps(name), configMap('held', { metadata: { finalizers: ['example.com/hold'] } }))
    await api.create(configMaps(name), configMap('free'))
    await api.delete(path(name))
    const release = () => api.patch(`${configMaps(name)}/held`, { metadata: { finalizers: null } })
    return { name, release }
  }

  it('is returned as terminating, and deleting it again changes nothing', async () => {
    const name = await api.newNamespace()
    await api.create(configMaps(name), configMap('held', { metadata: { finalizers: ['example.com/hold'] } }))
    const { status, body } = await api.delete(path(name))
    expect(status).toBe(200)
    expect(normalised(body)).toMatchObject({
      kind: 'Namespace',
      metadata: { name, deletionTimestamp: '<deletionTimestamp>' },
      status: { phase: 'Terminating' },
    })
    expect(body.metadata).not.toHaveProperty('deletionGracePeriodSeconds')
    const again = await api.delete(path(name))
    expect(again.status).toBe(200)
    expect(again.body.metadata.deletionTimestamp).toBe(body.metadata.deletionTimestamp)
    await api.patch(`${configMaps(name)}/held`, { metadata: { finalizers: null } })
  })

  it('accepts no new objects', async () => {
    const { name, release } = await leaving()
    const { status, body } = await api.post(configMaps(name), configMap('late'))
    expect(status).toBe(403)
    expect(body).toEqual(
      failure({
        code: 403,
        reason: 'Forbidden',
        message: `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
        details: {
          name: 'late',
          kind: 'configmaps',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: `namespace ${name} is being terminated`,
              field: 'metadata.namespace',
            },
          ],
        },
      }),
    )
    await release()
  })

  it('accepts changes of its content until it is deleted', async () => {
    const { name, release } = await leaving()
    expect((await api.patch(`${configMaps(name)}/held`, { data: { k: 'v' } })).status).toBe(200)
    await release()
  })

  it('deletes its content and reports what it waits for', async () => {
    const { name, release } = await leaving()
    await until('the content is deleted', () => isGone(`${configMaps(name)}/free`))
    const conditions = await until('the conditions', async () => {
      const { body } = await api.get(path(name))
      const found = (body.status.conditions ?? []) as Json[]
      return found.some(({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True') && found
    })
    const shown = conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
    expect(shown.sort()).toEqual([
      'NamespaceContentRemaining True SomeResourcesRemain',
      'NamespaceDeletionContentFailure False ContentDeleted',
      'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered',
      'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions',
      'NamespaceFinalizersRemaining True SomeFinalizersRemain',
    ])
    await release()
    await until('the namespace is deleted', () => isGone(path(name)))
    expect((await api.get(path(name))).body).toEqual(notFound('namespaces', name))
  })

  it('is deleted with workloads and their pods', async () => {
    const name = await api.newNamespace()
    await api.create(deployments(name), deployment('web', { replicas: 2 }))
    await until('pods run', async () => {
      const { items } = (await api.get(pods(name))).body
      return items.length === 2 && items.every(({ status }: Json) => status.phase === 'Running')
    })
    await api.delete(path(name))
    await until('the namespace is deleted', () => isGone(path(name)))
    expect((await api.get(pods(name))).body.items).toEqual([])
  })
})
