/** Subresources: status, scale, binding, eviction, log, token. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, STRATEGIC, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments, normalised, pod, pods } from './support/objects.ts'
import { badRequest, conflict, failure, invalid, notFound, resourceNotFound } from './support/status.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()

/** A pod that is not scheduled. */
async function unscheduled(metadata: Json = {}): Promise<string> {
  const object = pod(unique('pod'), { metadata, spec: { schedulerName: 'nobody' } })
  return (await api.create(pods(api.namespace), object)).metadata.name
}

/** A running pod. */
async function running(rest: { metadata?: Json; spec?: Json } = {}): Promise<string> {
  const { metadata } = await api.create(pods(api.namespace), pod(unique('pod'), rest))
  await until('the pod is ready', async () => {
    const { conditions = [] } = (await api.get(`${pods(api.namespace)}/${metadata.name}`)).body.status
    return conditions.some(({ type, status }: Json) => type === 'Ready' && status === 'True')
  })
  return metadata.name
}

describe('status', () => {
  it('is only written through its path', async () => {
    const of = `${pods(api.namespace)}/${await unscheduled()}`
    const ignored = await api.patch(of, { status: { reason: 'Ignored' } })
    expect(ignored.body.status).not.toHaveProperty('reason')
    const { status, body } = await api.patch(`${of}/status`, { status: { reason: 'Written' } })
    expect(status).toBe(200)
    expect(body.status.reason).toBe('Written')
    expect((await api.get(of)).body).toEqual(body)
  })

  it('changes nothing else except labels and annotations', async () => {
    const of = `${pods(api.namespace)}/${await unscheduled()}`
    const { body } = await api.patch(`${of}/status`, {
      metadata: { labels: { a: 'b' } },
      spec: { activeDeadlineSeconds: 5 },
      status: { reason: 'Written' },
    })
    expect(body.metadata).toMatchObject({ labels: { a: 'b' }, generation: 1 })
    expect(body.spec).not.toHaveProperty('activeDeadlineSeconds')
  })

  it('is read with the whole object', async () => {
    const of = `${pods(api.namespace)}/${await unscheduled()}`
    expect((await api.get(`${of}/status`)).body).toEqual((await api.get(of)).body)
  })

  it('can be replaced, with optimistic locking', async () => {
    const of = `${pods(api.namespace)}/${await unscheduled()}`
    const { body } = await api.get(of)
    const replaced = await api.put(`${of}/status`, { ...body, status: { ...body.status, reason: 'Replaced' } })
    expect(replaced.status).toBe(200)
    expect(replaced.body.status.reason).toBe('Replaced')
    const stale = await api.put(`${of}/status`, { ...body, status: { ...body.status, reason: 'Late' } })
    expect(stale.status).toBe(409)
    expect(stale.body).toEqual(conflict('pods', body.metadata.name))
  })

  it('does not change the generation', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('web')))
    const { body } = await api.patch(`${deployments(api.namespace)}/${metadata.name}/status`, {
      status: { collisionCount: 1 },
    })
    expect(body.metadata.generation).toBe(1)
  })

  it('does not exist for kinds without one', async () => {
    const { metadata } = await api.create(configMaps(api.namespace), configMap(unique('object')))
    const { status, body } = await api.get(`${configMaps(api.namespace)}/${metadata.name}/status`)
    expect(status).toBe(404)
    expect(body).toEqual(resourceNotFound)
  })
})

describe('the spec of a pod', () => {
  it('can change its images', async () => {
    const of = `${pods(api.namespace)}/${await unscheduled()}`
    const containers = [{ name: 'main', image: 'registry.example.com/app:2' }]
    const { status, body } = await api.patch(of, { spec: { containers } }, { 'content-type': STRATEGIC })
    expect(status).toBe(200)
    expect(body.spec.containers[0].image).toBe('registry.example.com/app:2')
    expect(body.metadata.generation).toBe(2)
  })

  it('can change only a few other fields', async () => {
    const name = await unscheduled()
    const { status, body } = await api.patch(`${pods(api.namespace)}/${name}`, { spec: { hostNetwork: true } })
    expect(status).toBe(422)
    expect(body.message).toContain(
      `Pod "${name}" is invalid: spec: Forbidden: pod updates may not change fields other than`,
    )
    expect(body.details.causes).toMatchObject([{ field: 'spec', reason: 'FieldValueForbidden' }])
  })

  it('gets ephemeral containers through their own path', async () => {
    const of = `${pods(api.namespace)}/${await unscheduled()}`
    const ephemeralContainers = [{ name: 'debugger', image: 'registry.example.com/tools:1' }]
    const patch = { spec: { ephemeralContainers } }
    const { status, body } = await api.patch(`${of}/ephemeralcontainers`, patch, { 'content-type': STRATEGIC })
    expect(status).toBe(200)
    expect(body.spec.ephemeralContainers).toMatchObject(ephemeralContainers)
    expect((await api.patch(of, { spec: { ephemeralContainers: null } })).status).toBe(422)
  })
})

describe('scale', () => {
  const created = async (replicas = 0) => {
    const { metadata } = await api.create(
      deployments(api.namespace),
      deployment(unique('web'), { replicas, paused: true }),
    )
    const path = `${deployments(api.namespace)}/${metadata.name}`
    await until('the controller has seen it', async () => (await api.get(path)).body.status.observedGeneration === 1)
    return { name: metadata.name as string, path, uid: metadata.uid as string }
  }

  it('has the same form for every kind', async () => {
    const { name, path, uid } = await created(2)
    const { status, body } = await api.get(`${path}/scale`)
    expect(status).toBe(200)
    expect(normalised(body)).toEqual({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: {
        name,
        namespace: api.namespace,
        uid: '<uid>',
        resourceVersion: '<resourceVersion>',
        creationTimestamp: '<creationTimestamp>',
      },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: `app=${name}` },
    })
    expect(body.metadata.uid).toBe(uid)
  })

  it('omits zero replicas', async () => {
    const { path } = await created(0)
    expect((await api.get(`${path}/scale`)).body.spec).toEqual({})
  })

  it('replaced or patched changes the replicas and the generation', async () => {
    const { path } = await created()
    const { body } = await api.get(`${path}/scale`)
    expect((await api.put(`${path}/scale`, { ...body, spec: { replicas: 3 } })).body.spec).toEqual({ replicas: 3 })
    expect((await api.get(path)).body).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 3 } })
    expect((await api.patch(`${path}/scale`, { spec: { replicas: 4 } })).body.spec).toEqual({ replicas: 4 })
    expect((await api.get(path)).body).toMatchObject({ metadata: { generation: 3 }, spec: { replicas: 4 } })
  })

  it('has the version of the object, and optimistic locking', async () => {
    const { name, path } = await created()
    const { body } = await api.get(`${path}/scale`)
    expect(body.metadata.resourceVersion).toBe((await api.get(path)).body.metadata.resourceVersion)
    await api.patch(path, { metadata: { labels: { a: 'b' } } })
    const stale = await api.put(`${path}/scale`, { ...body, spec: { replicas: 3 } })
    expect(stale.status).toBe(409)
    expect(stale.body).toEqual(conflict('deployments.apps', name))
  })

  it.each<[string, (name: string) => Json, number, (name: string) => Json]>([
    [
      'of another name',
      () => ({ metadata: { name: 'other' }, spec: { replicas: 1 } }),
      400,
      (name) => badRequest(`the name of the object (other) does not match the name on the URL (${name})`),
    ],
    [
      'below zero',
      (name) => ({ metadata: { name }, spec: { replicas: -1 } }),
      422,
      (name) =>
        invalid('Scale.autoscaling', name, {
          field: 'spec.replicas',
          reason: 'FieldValueInvalid',
          message: 'Invalid value: -1: must be greater than or equal to 0',
        }),
    ],
    [
      'of another kind',
      (name) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } }),
      400,
      () =>
        badRequest(
          'Deployment in version "v1" cannot be handled as a Scale: converting (v1.Deployment) to (autoscaling.Scale): unknown conversion',
        ),
    ],
  ])('%s is rejected', async (_, object, code, expected) => {
    const { name, path } = await created()
    const { status, body } = await api.put(`${path}/scale`, object(name))
    expect(status).toBe(code)
    expect(body).toEqual(expected(name))
  })

  it('for another uid is rejected', async () => {
    const { name, path, uid } = await created()
    const { status, body } = await api.put(`${path}/scale`, { metadata: { name, uid: 'other' }, spec: { replicas: 1 } })
    expect(status).toBe(409)
    expect(body.message).toContain(`Precondition failed: UID in precondition: other, UID in object meta: ${uid}`)
  })

  it('of a missing object responds 404', async () => {
    const { status, body } = await api.get(`${deployments(api.namespace)}/nobody/scale`)
    expect(status).toBe(404)
    expect(body).toEqual(notFound('deployments.apps', 'nobody'))
  })

  it.each(['replicasets', 'statefulsets'])('exists for %s', async (resource) => {
    const collection = `/apis/apps/v1/namespaces/${api.namespace}/${resource}`
    const { kind: _, ...object } = deployment(unique('set'))
    const { metadata } = await api.create(collection, object)
    expect((await api.get(`${collection}/${metadata.name}/scale`)).body).toMatchObject({
      kind: 'Scale',
      status: { selector: `app=${metadata.name}` },
    })
  })
})

describe('binding', () => {
  const bind = (name: string, target: Json, named = name) =>
    api.post(`${pods(api.namespace)}/${name}/binding`, { metadata: { name: named }, target })

  it('assigns a pod to a node, once', async () => {
    const name = await unscheduled()
    const first = await bind(name, { kind: 'Node', name: 'node-1' })
    expect(first.status).toBe(201)
    expect(first.body).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 })
    const { body } = await api.get(`${pods(api.namespace)}/${name}`)
    expect(body).toMatchObject({ metadata: { generation: 1 }, spec: { nodeName: 'node-1' } })
    expect(body.status.conditions).toContainEqual(expect.objectContaining({ type: 'PodScheduled', status: 'True' }))
    const second = await bind(name, { kind: 'Node', name: 'node-2' })
    expect(second.status).toBe(409)
    expect(second.body).toEqual(
      failure({
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on pods/binding "${name}": pod ${name} is already assigned to node "node-1"`,
        details: { name, kind: 'pods/binding' },
      }),
    )
  })

  it('can be posted to the collection of bindings', async () => {
    const name = await unscheduled()
    const { status } = await api.post(`/api/v1/namespaces/${api.namespace}/bindings`, {
      metadata: { name },
      target: { kind: 'Node', name: 'node-3' },
    })
    expect(status).toBe(201)
    expect((await api.get(`${pods(api.namespace)}/${name}`)).body.spec.nodeName).toBe('node-3')
  })

  it.each<[string, Json, string | undefined, number, Json]>([
    [
      'another name',
      { kind: 'Node', name: 'node-1' },
      'other',
      400,
      badRequest('name in URL does not match name in Binding object'),
    ],
    [
      'a target that is not a node',
      { kind: 'Pod', name: 'node-1' },
      undefined,
      500,
      failure({ code: 500, message: 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"' }),
    ],
    ['no target', {}, undefined, 500, failure({ code: 500, message: 'target.name: Required value' })],
  ])('with %s is rejected', async (_, target, named, code, expected) => {
    const { status, body } = await bind(await unscheduled(), target, named)
    expect(status).toBe(code)
    expect(body).toEqual(expected)
  })

  it('of a missing pod is rejected', async () => {
    const { status, body } = await bind('nobody', { kind: 'Node', name: 'node-1' })
    expect(status).toBe(404)
    expect(body).toEqual(notFound('pods', 'nobody'))
  })
})

describe('eviction', () => {
  const evict = (name: string, rest: Json = {}) =>
    api.post(`${pods(api.namespace)}/${name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name },
      ...rest,
    })
  const isGone = async (name: string) => (await api.get(`${pods(api.namespace)}/${name}`)).status === 404

  it('deletes a pod', async () => {
    const name = await running()
    const { status, body } = await evict(name)
    expect(status).toBe(201)
    expect(body).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 })
    await until('the pod is deleted', () => isGone(name))
  })

  it('is still supported in its old version', async () => {
    const name = await running()
    expect((await evict(name, { apiVersion: 'policy/v1beta1' })).status).toBe(201)
    await until('the pod is deleted', () => isGone(name))
  })

  it('is rejected while a budget needs the pod, and accepted afterwards', async () => {
    const app = unique('guarded')
    const name = await running({ metadata: { labels: { app } } })
    const budgets = `/apis/policy/v1/namespaces/${api.namespace}/poddisruptionbudgets`
    await api.create(budgets, {
      metadata: { name: app },
      spec: { minAvailable: 1, selector: { matchLabels: { app } } },
    })
    const { body: budget } = await until('the budget counts the pod', async () => {
      const response = await api.get(`${budgets}/${app}`)
      return response.body.status.currentHealthy === 1 ? response : undefined
    })
    expect(budget.status).toMatchObject({ disruptionsAllowed: 0, desiredHealthy: 1, expectedPods: 1 })
    const { status, body } = await evict(name)
    expect(status).toBe(429)
    expect(body).toEqual(
      failure({
        code: 429,
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: `The disruption budget ${app} needs 1 healthy pods and has 1 currently`,
            },
          ],
        },
      }),
    )
    await api.patch(`${budgets}/${app}`, { spec: { minAvailable: 0 } })
    await until('the budget allows it', async () => (await evict(name)).status === 201)
    await until('the pod is deleted', () => isGone(name))
  })

  it('of another name or of a missing pod is rejected', async () => {
    const name = await unscheduled()
    const mismatched = await evict(name, { metadata: { name: 'other' } })
    expect(mismatched.status).toBe(400)
    expect(mismatched.body).toEqual(badRequest('name in URL does not match name in Eviction object'))
    const missing = await evict('nobody')
    expect(missing.status).toBe(404)
    expect(missing.body).toEqual(notFound('pods', 'nobody'))
  })
})

describe('log', () => {
  const two = {
    spec: {
      containers: [
        { name: 'one', image: 'registry.example.com/app:1' },
        { name: 'two', image: 'registry.example.com/app:1' },
      ],
    },
  }

  it('is plain text', async () => {
    const { status, headers } = await api.get(`${pods(api.namespace)}/${await running()}/log`)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/plain')
  })

  it('is that of one container, which must be named if there are several', async () => {
    const name = await running(two)
    const of = `${pods(api.namespace)}/${name}/log`
    expect((await api.get(`${of}?container=two`)).status).toBe(200)
    const unnamed = await api.get(of)
    expect(unnamed.status).toBe(400)
    expect(unnamed.body).toEqual(
      badRequest(`a container name must be specified for pod ${name}, choose one of: [one two]`),
    )
    expect((await api.get(`${of}?container=three`)).body).toEqual(
      badRequest(`container three is not valid for pod ${name}`),
    )
  })

  it('of a pod without a node is empty', async () => {
    const { status, text } = await api.get(`${pods(api.namespace)}/${await unscheduled()}/log`)
    expect(status).toBe(204)
    expect(text).toBe('')
  })

  it.each<[string, Json]>([
    ['tailLines=-1', { field: 'tailLines', message: 'Invalid value: -1: must be greater than or equal to 0' }],
    ['limitBytes=0', { field: 'limitBytes', message: 'Invalid value: 0: must be greater than 0' }],
    ['sinceSeconds=0', { field: 'sinceSeconds', message: 'Invalid value: 0: must be greater than 0' }],
    [
      'sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z',
      {
        field: '[]',
        reason: 'FieldValueForbidden',
        message: 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
      },
    ],
  ])('with %s is rejected', async (query, problem) => {
    const name = await unscheduled()
    const { status, body } = await api.get(`${pods(api.namespace)}/${name}/log?${query}`)
    expect(status).toBe(422)
    expect(body).toEqual(invalid('PodLogOptions', name, { reason: 'FieldValueInvalid', ...problem }))
  })

  it('with an invalid number is rejected', async () => {
    const { status, body } = await api.get(`${pods(api.namespace)}/${await unscheduled()}/log?tailLines=all`)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest('strconv.ParseInt: parsing "all": invalid syntax'))
  })

  it('of a missing pod responds 404', async () => {
    expect((await api.get(`${pods(api.namespace)}/nobody/log`)).body).toEqual(notFound('pods', 'nobody'))
  })
})

describe('a stream into a container', () => {
  it('requires an upgraded connection', async () => {
    const { status, body } = await api.get(`${pods(api.namespace)}/${await running()}/exec?command=ls`)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest('Upgrade request required'))
  })
})

describe('token', () => {
  it('is issued for a service account, for a limited time', async () => {
    const accounts = `/api/v1/namespaces/${api.namespace}/serviceaccounts`
    const { metadata } = await api.create(accounts, { metadata: { name: unique('account') } })
    const { status, body } = await api.post(`${accounts}/${metadata.name}/token`, { spec: { expirationSeconds: 900 } })
    expect(status).toBe(201)
    expect(normalised(body)).toEqual({
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {
        name: metadata.name,
        namespace: api.namespace,
        uid: '<uid>',
        creationTimestamp: '<creationTimestamp>',
      },
      spec: {
        audiences: ['https://kubernetes.default.svc.cluster.local'],
        expirationSeconds: 900,
        boundObjectRef: null,
      },
      status: {
        token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        expirationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    })
  })
})
