/** The request of each verb. */

import type { TransportResponse } from '@reeve/http'
import { describe, expect, it } from 'vitest'
import { ConfigMaps, Deployments, Nodes, Pods } from './builtin-resources.ts'
import { createClient } from './create-client.ts'
import { BadResponseError, InvalidRequestError } from './errors.ts'
import { serviceAccount } from './impersonation.ts'
import type { ConfigMap } from './kinds/index.ts'
import { json, ScriptedTransport, text } from './testing/scripted-transport.ts'

const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name: 'settings' },
  data: { colour: 'blue' },
}
const key = { namespace: 'shop', name: 'settings' }

function clientOf(answer: TransportResponse = json(200, configMap)) {
  const transport = new ScriptedTransport(answer)
  const client = createClient({ transport, fieldManager: 'tester', userAgent: 'agent/1' })
  const sent = () => {
    const [request] = transport.requests
    if (request === undefined) throw new Error('nothing was sent')
    const { method, path, headers, body } = request
    return { request: `${method} ${path}`, headers, body: body === undefined ? undefined : JSON.parse(String(body)) }
  }
  return { client, transport, sent }
}

describe('requests', () => {
  it('gets an object and a subresource', async () => {
    const { client, sent } = clientOf()
    await client.get(Deployments, { namespace: 'shop', name: 'web' }, { subresource: 'scale', resourceVersion: '5' })
    expect(sent().request).toBe('GET /apis/apps/v1/namespaces/shop/deployments/web/scale?resourceVersion=5')
    expect(sent().headers).toEqual({ accept: 'application/json', 'user-agent': 'agent/1' })
  })

  it('lists a page with its selectors', async () => {
    const { client, sent } = clientOf(json(200, { metadata: {}, items: [] }))
    await client.list(Pods, { namespace: 'shop', labelSelector: 'app=web', fieldSelector: 'status.phase=Running' })
    expect(sent().request).toBe(
      'GET /api/v1/namespaces/shop/pods?labelSelector=app%3Dweb&fieldSelector=status.phase%3DRunning&limit=500',
    )
  })

  it('requests everything in one page with limit 0', async () => {
    const { client, sent } = clientOf(json(200, { metadata: {}, items: [] }))
    await client.list(Nodes, { limit: 0 })
    expect(sent().request).toBe('GET /api/v1/nodes')
  })

  it('creates with the client as field manager', async () => {
    const { client, sent } = clientOf(json(201, configMap))
    await client.create(ConfigMaps, configMap)
    expect(sent().request).toBe('POST /api/v1/namespaces/shop/configmaps?fieldManager=tester')
    expect(sent().headers['content-type']).toBe('application/json')
    expect(sent().body).toEqual(configMap)
  })

  it('creates a subresource on its object', async () => {
    const { client, sent } = clientOf(json(201, configMap))
    await client.create(ConfigMaps, configMap, { subresource: 'token' })
    expect(sent().request).toMatch(/^POST \/api\/v1\/namespaces\/shop\/configmaps\/settings\/token\?/)
  })

  it('updates a subresource with dry run, field manager and field validation', async () => {
    const { client, sent } = clientOf()
    const options = { subresource: 'status', dryRun: true, fieldManager: 'other', fieldValidation: 'Strict' } as const
    await client.update(ConfigMaps, configMap, options)
    expect(sent().request).toBe(
      'PUT /api/v1/namespaces/shop/configmaps/settings/status?fieldManager=other&dryRun=All&fieldValidation=Strict',
    )
  })

  it.each([
    [{ type: 'json', patch: [{ op: 'remove', path: '/data' }] }, 'application/json-patch+json'],
    [{ type: 'merge', patch: { data: null } }, 'application/merge-patch+json'],
    [{ type: 'strategic', patch: { data: null } }, 'application/strategic-merge-patch+json'],
  ] as const)('sends %o as %s', async (patch, contentType) => {
    const { client, sent } = clientOf()
    await client.patch(ConfigMaps, key, patch)
    expect(sent().request).toBe('PATCH /api/v1/namespaces/shop/configmaps/settings?fieldManager=tester')
    expect(sent().headers['content-type']).toBe(contentType)
    expect(sent().body).toEqual(patch.patch)
  })

  it('applies with force', async () => {
    const { client, sent } = clientOf()
    await client.apply(ConfigMaps, configMap, { force: true })
    expect(sent().request).toBe('PATCH /api/v1/namespaces/shop/configmaps/settings?fieldManager=tester&force=true')
    expect(sent().headers['content-type']).toBe('application/apply-patch+yaml')
  })

  it('deletes without a body when there are no options', async () => {
    const { client, sent } = clientOf(json(200, { kind: 'Status' }))
    await client.delete(ConfigMaps, key)
    expect(sent()).toMatchObject({ request: 'DELETE /api/v1/namespaces/shop/configmaps/settings', body: undefined })
  })

  it('puts preconditions, policy and dry run into the body of a deletion', async () => {
    const { client, sent } = clientOf(json(200, { kind: 'Status' }))
    const preconditions = { uid: 'u', resourceVersion: '7' }
    await client.delete(ConfigMaps, key, {
      preconditions,
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
      dryRun: true,
    })
    expect(sent().body).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
      dryRun: ['All'],
    })
  })

  it('deletes a selection', async () => {
    const { client, sent } = clientOf(json(200, { kind: 'Status' }))
    await client.deleteCollection(ConfigMaps, { namespace: 'shop', labelSelector: 'app=web' })
    expect(sent().request).toBe('DELETE /api/v1/namespaces/shop/configmaps?labelSelector=app%3Dweb')
  })

  it('sends raw requests and returns text when the response is not JSON', async () => {
    const { client, sent } = clientOf(text(200, 'ok'))
    expect(await client.raw({ method: 'GET', path: '/readyz?verbose', headers: { Accept: 'text/plain' } })).toBe('ok')
    expect(sent().request).toBe('GET /readyz?verbose')
    expect(sent().headers.accept).toBe('text/plain')
  })

  it('impersonates, with one header per group', async () => {
    const transport = new ScriptedTransport(json(200, configMap))
    const impersonate = { user: 'jane', uid: '7', groups: ['dev', 'ops'], extra: { 'Example.com/Scopes': ['view'] } }
    await createClient({ transport, impersonate }).get(ConfigMaps, key)
    expect(transport.requests[0]?.headers).toMatchObject({
      'impersonate-user': 'jane',
      'impersonate-uid': '7',
      'impersonate-extra-example.com%2fscopes': 'view',
    })
    expect(transport.requests[0]?.repeatedHeaders).toEqual({ 'impersonate-group': ['dev', 'ops'] })
  })

  it('impersonates another identity for one request, without any part of the client’s default one', async () => {
    const transport = new ScriptedTransport(json(200, configMap), json(200, configMap))
    const client = createClient({ transport, impersonate: { user: 'jane', uid: '7', groups: ['dev', 'ops'] } })
    await client.get(ConfigMaps, key, { impersonate: serviceAccount({ namespace: 'shop', name: 'deployer' }) })
    const { headers = {}, repeatedHeaders } = transport.requests[0] ?? {}
    expect(Object.entries(headers).filter(([name]) => name.startsWith('impersonate'))).toEqual([
      ['impersonate-user', 'system:serviceaccount:shop:deployer'],
    ])
    expect(repeatedHeaders).toBeUndefined()
    await client.get(ConfigMaps, key)
    expect(transport.requests[1]?.headers).toMatchObject({ 'impersonate-user': 'jane' })
  })

  it('rejects names that would address something else before sending', async () => {
    const { client, transport } = clientOf()
    await expect(client.get(ConfigMaps, { name: 'settings' })).rejects.toThrow(InvalidRequestError)
    await expect(client.get(ConfigMaps, { namespace: '..', name: 'x' })).rejects.toThrow(InvalidRequestError)
    const nameless = { ...configMap, metadata: { namespace: 'shop' } }
    await expect(client.update(ConfigMaps, nameless)).rejects.toThrow('ConfigMap without metadata.name')
    expect(transport.requests).toEqual([])
  })

  it('closes its transport', async () => {
    const { client, transport } = clientOf()
    await client.close()
    expect(transport.isClosed).toBe(true)
  })
})

describe('answers', () => {
  it('adds the apiVersion and kind that servers omit from list items', async () => {
    const items = [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }]
    const { client } = clientOf(
      json(200, { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items }),
    )
    const list = await client.list(Pods)
    expect(list.items.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual(['v1 Pod', 'v1 Pod'])
  })

  it('reduces to metadata with the real kind, however the server responds', async () => {
    const items = [
      { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name: 'a' } },
      { metadata: { name: 'b' }, spec: { containers: [] } },
    ]
    const { client, sent } = clientOf(json(200, { metadata: {}, items }))
    const list = await client.list(Pods, { metadataOnly: true })
    expect(sent().headers.accept).toMatch(/^application\/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,/)
    expect(list.items).toEqual([
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } },
    ])
  })

  it.each<[string, unknown, (client: ReturnType<typeof clientOf>['client']) => Promise<unknown>]>([
    ['null', null, (client) => client.get(ConfigMaps, key)],
    ['an object without metadata', { kind: 'ConfigMap' }, (client) => client.get(ConfigMaps, key)],
    ['text', 'hello', (client) => client.get(ConfigMaps, key, { metadataOnly: true })],
    ['null', null, (client) => client.list(ConfigMaps)],
    ['a list whose items are an object', { items: {} }, (client) => client.list(ConfigMaps)],
    ['a list with an item that is null', { items: [null] }, (client) => client.listAll(ConfigMaps)],
  ])('rejects a response that is %s', async (_what, answer, call) => {
    await expect(call(clientOf(json(200, answer)).client)).rejects.toThrow(BadResponseError)
  })

  it('tolerates a Status with fields of the wrong type', async () => {
    const status = {
      kind: 'Status',
      message: {},
      reason: 7,
      code: 'x',
      details: { causes: 'none', retryAfterSeconds: {} },
    }
    const { client } = clientOf(json(422, status))
    await expect(client.get(ConfigMaps, key)).rejects.toMatchObject({ name: 'ApiError', reason: 'Invalid', causes: [] })
  })

  it('treats null items as an empty list', async () => {
    const { client } = clientOf(json(200, { kind: 'PodList', items: null }))
    expect((await client.list(Pods)).items).toEqual([])
  })
})
