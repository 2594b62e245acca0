/** The built-in admission plug-ins, which run before webhooks. Passes on both clusters. */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../src/index.ts'
import { eventually } from './support/eventually.ts'

let cluster: ClusterUnderTest
let namespace: string
beforeAll(async () => {
  cluster = await openCluster()
  namespace = await cluster.createNamespace()
})
afterAll(() => cluster.close())

const post = (path: string, body: JsonObject) => cluster.raw.send({ method: 'POST', path, body })
const configMaps = (of: string) => `/api/v1/namespaces/${of}/configmaps`

describe('a namespace', () => {
  it('must exist before objects are created in it, but may be missing when it is listed', async () => {
    const created = await post(configMaps('nowhere'), { metadata: { name: 'a' } })
    expect(created.json()).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'namespaces "nowhere" not found',
      details: { name: 'nowhere', kind: 'namespaces' },
    })
    expect((await cluster.raw.send({ path: configMaps('nowhere') })).status).toBe(200)
  })

  it('that is terminating accepts updates, but no new objects', async () => {
    const going = await cluster.createNamespace()
    await post(configMaps(going), { metadata: { name: 'keep', finalizers: ['example.com/hold'] } })
    await cluster.raw.send({ method: 'DELETE', path: `/api/v1/namespaces/${going}` })
    const headers = { 'content-type': 'application/merge-patch+json' }
    await eventually(
      'new objects are rejected',
      async () => (await post(`${configMaps(going)}?dryRun=All`, { metadata: { name: 'a' } })).status === 403,
    )
    const rejected = await post(configMaps(going), { metadata: { generateName: 'new-' } })
    expect(rejected.json()).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      details: {
        kind: 'configmaps',
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${going} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    })
    expect(rejected.json().message).toContain(
      `is forbidden: unable to create new content in namespace ${going} because it is being terminated`,
    )
    const keep = `${configMaps(going)}/keep`
    expect((await cluster.raw.send({ method: 'PATCH', path: keep, body: { data: { a: 'b' } }, headers })).status).toBe(
      200,
    )
    await cluster.raw.send({ method: 'PATCH', path: keep, body: { metadata: { finalizers: null } }, headers })
  })

  it.each(['default', 'kube-system', 'kube-public'])('named %s cannot be deleted', async (name) => {
    const { json } = await cluster.raw.send({ method: 'DELETE', path: `/api/v1/namespaces/${name}` })
    expect(json()).toMatchObject({
      code: 403,
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    })
  })
})

describe('a new pod', () => {
  interface Pod {
    readonly spec: JsonObject & {
      readonly containers: { readonly volumeMounts?: JsonObject[] }[]
      readonly initContainers?: { readonly volumeMounts?: JsonObject[] }[]
      readonly volumes?: { readonly name: string }[]
    }
  }
  const create = (spec: JsonObject, metadata: JsonObject = {}) =>
    post(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, {
      metadata: { name: 'p', ...metadata },
      spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    })
  const spec = async (of: JsonObject) => (await create(of)).json<Pod>().spec

  it('gets the default service account with its token, and the defaults of the cluster', async () => {
    const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
    const initContainers = [{ name: 'i', image: 'i', volumeMounts: [{ name: 'own', mountPath }] }]
    const pod = await spec({ initContainers, volumes: [{ name: 'own', emptyDir: {} }] })
    const volume = pod.volumes?.[1]
    expect(volume).toEqual({
      name: expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/),
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
        defaultMode: 420,
      },
    })
    expect(pod.containers[0]?.volumeMounts).toEqual([{ name: volume?.name, readOnly: true, mountPath }])
    expect(pod.initContainers?.[0]?.volumeMounts).toEqual([{ name: 'own', mountPath }])
    const seconds = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }
    expect(pod).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', ...seconds },
        { key: 'node.kubernetes.io/unreachable', ...seconds },
      ],
    })
  })

  it('gets no token when it disables it', async () => {
    expect((await spec({ automountServiceAccountToken: false })).volumes).toBeUndefined()
  })

  it('gets the pull secrets and the token setting of its service account', async () => {
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      metadata: { name: 'pull' },
      imagePullSecrets: [{ name: 'reg' }],
      automountServiceAccountToken: false,
    })
    const pod = await spec({ serviceAccountName: 'pull' })
    expect(pod).toMatchObject({ serviceAccountName: 'pull', imagePullSecrets: [{ name: 'reg' }] })
    expect(pod.volumes).toBeUndefined()
  })

  it('keeps its own equivalent tolerations', async () => {
    expect((await spec({ tolerations: [{ operator: 'Exists' }] })).tolerations).toEqual([{ operator: 'Exists' }])
  })

  it('gets the priority of its class', async () => {
    expect(await spec({ priorityClassName: 'system-node-critical' })).toMatchObject({ priority: 2_000_001_000 })
  })

  it.each<[string, JsonObject, JsonObject, string]>([
    [
      'for a missing account',
      { serviceAccountName: 'zz' },
      {},
      'error looking up service account NS/zz: serviceaccount "zz" not found',
    ],
    ['for a missing class', { priorityClassName: 'zz' }, {}, 'no PriorityClass with name zz was found'],
    [
      'with another priority',
      { priority: 5 },
      {},
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
    [
      'with another policy',
      { preemptionPolicy: 'Never' },
      {},
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
    [
      'as a mirror with an account',
      { serviceAccountName: 'default' },
      { annotations: { 'kubernetes.io/config.mirror': 'x' } },
      'a mirror pod may not reference service accounts',
    ],
  ])('is rejected %s', async (_, wanted, metadata, message) => {
    const { status, json } = await create(wanted, metadata)
    expect(status).toBe(403)
    expect(json().message).toBe(`pods "p" is forbidden: ${message.replace('NS', namespace)}`)
  })
})
