import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes } from '../api/admission-plugin.ts'
import { type Access, type Authorizer, alwaysAllow, isResourceAccess } from '../auth/authorizer.ts'
import type { Clock } from '../clock.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import { createOwnerReferencesPermission } from './owner-references.ts'
import { createBuiltInAdmission } from './plugins.ts'
import { type FakeClusterApi, fakeClusterApi } from './testing/fake-cluster-api.ts'

function cluster(more: Readonly<Record<string, readonly JsonObject[]>> = {}) {
  return fakeClusterApi({
    namespaces: [
      { metadata: { name: 'ns' }, status: { phase: 'Active' } },
      { metadata: { name: 'term' }, status: { phase: 'Terminating' } },
    ],
    serviceaccounts: [{ metadata: { namespace: 'ns', name: 'default' } }],
    ...more,
  })
}

const expiring: (() => void)[] = []
const clock: Clock = {
  now: () => 0,
  schedule: (_, action) => {
    expiring.push(action)
    return { cancel: () => undefined }
  },
}

function attributes(plural: string, kind: string, overrides: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  const group = overrides.resource?.group ?? ''
  // Plug-ins read only these fields of the resource.
  const resource = { group, version: 'v1', plural, kind, namespaced: true, ...overrides.resource } as ResourceInfo
  return {
    operation: 'CREATE',
    subresource: undefined,
    namespace: 'ns',
    name: 'x',
    object: { metadata: { name: 'x' } },
    oldObject: undefined,
    user: { username: 'jane', groups: [] },
    dryRun: false,
    options: {},
    warn: () => undefined,
    signal: new AbortController().signal,
    ...overrides,
    resource,
  }
}

async function admit(api: FakeClusterApi, of: AdmissionAttributes): Promise<JsonObject | undefined> {
  let { object } = of
  const plugins = createBuiltInAdmission({ api, clock, random: () => 0 })
  for (const plugin of plugins) if (plugin.mutate !== undefined) object = await plugin.mutate({ ...of, object })
  for (const plugin of plugins) await plugin.validate?.({ ...of, object })
  return object
}

const pod = (spec: JsonObject = {}, overrides: Partial<AdmissionAttributes> = {}) =>
  attributes('pods', 'Pod', {
    object: { metadata: { name: 'x' }, spec: { containers: [{ name: 'c' }], ...spec } },
    ...overrides,
  })

async function podSpec(api: FakeClusterApi, spec: JsonObject = {}): Promise<JsonObject> {
  return objectAt(await admit(api, pod(spec)), 'spec')
}

describe('namespaces', () => {
  it('must exist before something is created in them', async () => {
    await expect(admit(cluster(), attributes('configmaps', 'ConfigMap', { namespace: 'nope' }))).rejects.toMatchObject({
      code: 404,
      message: 'namespaces "nope" not found',
    })
  })

  it('reject new objects while they are terminating, but accept updates', async () => {
    await expect(admit(cluster(), attributes('configmaps', 'ConfigMap', { namespace: 'term' }))).rejects.toMatchObject({
      code: 403,
      message:
        'configmaps "x" is forbidden: unable to create new content in namespace term because it is being terminated',
      details: {
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace term is being terminated',
            field: 'metadata.namespace',
          },
        ],
      },
    })
    await admit(cluster(), attributes('configmaps', 'ConfigMap', { namespace: 'term', operation: 'UPDATE' }))
  })

  it.each(['default', 'kube-system', 'kube-public'])('named %s cannot be deleted', async (name) => {
    const of = attributes('namespaces', 'Namespace', { operation: 'DELETE', name, object: undefined })
    await expect(admit(cluster(), of)).rejects.toMatchObject({
      code: 403,
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    })
  })
})

describe('a new pod', () => {
  it('gets the default service account and its token in every container', async () => {
    const spec = await podSpec(cluster(), { initContainers: [{ name: 'i' }], volumes: [{ name: 'v' }] })
    const mount = {
      name: 'kube-api-access-bbbbb',
      readOnly: true,
      mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
    }
    expect(spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      containers: [{ volumeMounts: [mount] }],
      initContainers: [{ volumeMounts: [mount] }],
    })
    expect(arrayAt(spec, 'volumes')).toEqual([
      { name: 'v' },
      {
        name: 'kube-api-access-bbbbb',
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
      },
    ])
  })

  it('keeps its own mount at the path of the token', async () => {
    const volumeMounts = [{ name: 'v', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }]
    const spec = await podSpec(cluster(), { containers: [{ name: 'c', volumeMounts }] })
    expect(spec.containers).toEqual([{ name: 'c', volumeMounts }])
    expect(spec.volumes).toBeUndefined()
  })

  it('gets only one volume when admitted twice, and containers added later mount it', async () => {
    const api = cluster()
    const first = await admit(api, pod())
    const spec = objectAt(first, 'spec')
    const late = { ...spec, containers: [...arrayAt(spec, 'containers'), { name: 'sidecar' }] }
    const second = objectAt(await admit(api, pod({}, { object: { ...first, spec: late } })), 'spec')
    expect(arrayAt(second, 'volumes')).toHaveLength(1)
    expect(
      arrayAt(second, 'containers')
        .filter(isJsonObject)
        .every((one) => arrayAt(one, 'volumeMounts').length === 1),
    ).toBe(true)
  })

  it('gets no token if the pod or account disables it, and gets the pull secrets of the account', async () => {
    expect((await podSpec(cluster(), { automountServiceAccountToken: false })).volumes).toBeUndefined()
    const account = {
      metadata: { namespace: 'ns', name: 'pull' },
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'reg' }],
    }
    const api = cluster({ serviceaccounts: [account] })
    const spec = await podSpec(api, { serviceAccountName: 'pull' })
    expect(spec.volumes).toBeUndefined()
    expect(spec.imagePullSecrets).toEqual([{ name: 'reg' }])
  })

  it('is rejected if its service account does not exist', async () => {
    await expect(podSpec(cluster(), { serviceAccountName: 'zz' })).rejects.toThrow(
      'pods "x" is forbidden: error looking up service account ns/zz: serviceaccount "zz" not found',
    )
  })

  it('waits briefly for the default service account of a new namespace', async () => {
    const api = cluster({ serviceaccounts: [] })
    const arriving = podSpec(api)
    api.put('serviceaccounts', { metadata: { namespace: 'ns', name: 'default' } })
    await expect(arriving).resolves.toMatchObject({ serviceAccountName: 'default' })
    expiring.length = 0
    const waiting = podSpec(cluster({ serviceaccounts: [] }))
    await Promise.resolve()
    for (const expire of expiring) expire()
    await expect(waiting).rejects.toThrow('serviceaccount "default" not found')
  })

  it('tolerates unreachable nodes for five minutes, unless it has its own tolerations', async () => {
    const seconds = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }
    const unreachable = { key: 'node.kubernetes.io/unreachable', ...seconds }
    expect((await podSpec(cluster())).tolerations).toEqual([
      { key: 'node.kubernetes.io/not-ready', ...seconds },
      unreachable,
    ])
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists' }
    expect((await podSpec(cluster(), { tolerations: [own] })).tolerations).toEqual([own, unreachable])
    const all = [{ operator: 'Exists' }]
    expect((await podSpec(cluster(), { tolerations: all })).tolerations).toEqual(all)
  })

  it('gets the priority of its class', async () => {
    const critical = { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }
    const api = cluster({ 'priorityclasses.scheduling.k8s.io': [critical] })
    expect(await podSpec(api)).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' })
    expect(await podSpec(api, { priorityClassName: 'system-node-critical' })).toMatchObject({ priority: 2_000_001_000 })
    api.put('priorityclasses.scheduling.k8s.io', {
      metadata: { name: 'usual' },
      value: 7,
      globalDefault: true,
      preemptionPolicy: 'Never',
    })
    expect(await podSpec(api)).toMatchObject({ priority: 7, preemptionPolicy: 'Never', priorityClassName: 'usual' })
  })

  it.each<[JsonObject, string]>([
    [{ priorityClassName: 'zz' }, 'no PriorityClass with name zz was found'],
    [
      { priority: 5 },
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
    [
      { preemptionPolicy: 'Never' },
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ])('is rejected with %j', async (spec, message) => {
    await expect(podSpec(cluster(), spec)).rejects.toThrow(`pods "x" is forbidden: ${message}`)
  })

  it('keeps its priority when a client sends it without one', async () => {
    const oldObject = { spec: { priority: 7, preemptionPolicy: 'Never' } }
    const updated = await admit(cluster(), pod({}, { operation: 'UPDATE', oldObject }))
    expect(objectAt(updated, 'spec')).toMatchObject({ priority: 7, preemptionPolicy: 'Never' })
  })
})

describe('a second default priority class', () => {
  it('is rejected', async () => {
    const api = cluster({
      'priorityclasses.scheduling.k8s.io': [{ metadata: { name: 'dflt' }, value: 7, globalDefault: true }],
    })
    const of = attributes('priorityclasses', 'PriorityClass', {
      name: 'dflt2',
      namespace: undefined,
      object: { globalDefault: true },
      resource: { group: 'scheduling.k8s.io', namespaced: false } as ResourceInfo,
    })
    await expect(admit(api, of)).rejects.toThrow(
      'priorityclasses.scheduling.k8s.io "dflt2" is forbidden: PriorityClass dflt is already marked as default. Only one default can exist',
    )
  })
})

describe('owner references with the plug-in enabled', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u', blockOwnerDeletion: true }
  function plugin(...allowed: string[]) {
    const authorizer: Authorizer = {
      ...alwaysAllow,
      authorize: (access: Access) => {
        const asked = isResourceAccess(access) ? `${access.verb} ${access.resource}/${access.subresource ?? ''}` : ''
        return { allowed: allowed.includes(asked), reason: '' }
      },
    }
    const deployments = { plural: 'deployments', namespaced: true } as ResourceInfo
    return createOwnerReferencesPermission({ authorizer, byKind: () => deployments })
  }
  const owned = attributes('configmaps', 'ConfigMap', { object: { metadata: { ownerReferences: [owner] } } })

  it('that block deletion require permission to set the owner’s finalizers', () => {
    expect(() => plugin().validate?.(owned)).toThrow("refers to a resource you can't set finalizers on")
    expect(() => plugin('update deployments/finalizers').validate?.(owned)).not.toThrow()
  })

  it('require permission to delete the object when they change', () => {
    const changed = { ...owned, operation: 'UPDATE' as const, oldObject: { metadata: {} } }
    expect(() => plugin('update deployments/finalizers').validate?.(changed)).toThrow("on a resource you can't delete")
    expect(() => plugin().validate?.({ ...changed, oldObject: owned.object })).not.toThrow()
  })
})
