/** Kinds are found in either format of discovery. */

import type { TransportRequest, TransportResponse } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { createClient } from './create-client.ts'
import { UnknownKindError } from './errors.ts'
import { json, ScriptedTransport, text } from './testing/scripted-transport.ts'

const aggregated = (groups: readonly object[]) => json(200, { kind: 'APIGroupDiscoveryList', items: groups })
const group = (name: string, version: string, resource: string, kind: string, scope = 'Namespaced') => ({
  metadata: name === '' ? {} : { name },
  versions: [{ version, resources: [{ resource, responseKind: { kind }, scope, verbs: ['get'], shortNames: ['x'] }] }],
})

function clientOf(routes: Record<string, () => TransportResponse>) {
  const clock = new SimulatedClock()
  const transport = new ScriptedTransport(
    async (request: TransportRequest) => routes[request.path]?.() ?? text(404, ''),
  )
  return {
    clock,
    transport,
    client: createClient({ transport, clock }),
    paths: () => transport.requests.map(({ path }) => path),
  }
}

const widget = { apiVersion: 'example.com/v1', kind: 'Widget' }

describe('discovery', () => {
  it('reads everything in two requests if the server aggregates, and caches it', async () => {
    const { client, paths, transport } = clientOf({
      '/api': () => aggregated([group('', 'v1', 'nodes', 'Node', 'Cluster')]),
      '/apis': () => aggregated([group('example.com', 'v1', 'widgets', 'Widget')]),
    })
    expect(await client.resourceFor(widget)).toMatchObject({
      group: 'example.com',
      version: 'v1',
      plural: 'widgets',
      namespaced: true,
    })
    expect(await client.resourceFor({ apiVersion: 'v1', kind: 'Node' })).toMatchObject({ group: '', namespaced: false })
    expect(paths()).toEqual(['/api', '/apis'])
    expect(transport.requests[0]?.headers.accept).toMatch(/g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList/)
  })

  it('falls back to one list per group version', async () => {
    const { client, paths } = clientOf({
      '/api': () => json(200, { kind: 'APIVersions', versions: ['v1'] }),
      '/apis': () =>
        json(200, {
          kind: 'APIGroupList',
          groups: [{ name: 'example.com', versions: [{ groupVersion: 'example.com/v1' }] }],
        }),
      '/api/v1': () => json(200, { resources: [{ name: 'pods', kind: 'Pod', namespaced: true }] }),
      '/apis/example.com/v1': () =>
        json(200, {
          resources: [
            { name: 'widgets', kind: 'Widget', namespaced: true, verbs: ['get'] },
            { name: 'widgets/scale', kind: 'Scale', namespaced: true },
          ],
        }),
    })
    expect(await client.resourceFor(widget)).toMatchObject({ plural: 'widgets' })
    expect(paths().toSorted()).toEqual(['/api', '/api/v1', '/apis', '/apis/example.com/v1'])
    expect((await client.discovery.resources()).map(({ kind }) => kind)).toEqual(['Pod', 'Widget'])
  })

  it.each([
    null,
    [],
    { kind: 'APIGroupDiscoveryList', items: [null, { versions: [{ version: 1, resources: [7] }] }, { versions: {} }] },
    { kind: 'APIVersions', versions: [{}] },
    { groups: [{ versions: null }, 'x'] },
  ])('finds no resources in a malformed response: %j', async (answer) => {
    const client = createClient({ transport: new ScriptedTransport(json(200, answer)) })
    expect(await client.discovery.resources()).toEqual([])
  })

  it('tolerates a group that disappears while it is read', async () => {
    const { client } = clientOf({
      '/api': () => json(200, { kind: 'APIVersions', versions: ['v1'] }),
      '/apis': () =>
        json(200, { kind: 'APIGroupList', groups: [{ versions: [{ groupVersion: 'gone.example.com/v1' }] }] }),
      '/api/v1': () => json(200, { resources: [{ name: 'pods', kind: 'Pod', namespaced: true }] }),
    })
    expect(await client.resourceFor({ apiVersion: 'v1', kind: 'Pod' })).toMatchObject({ plural: 'pods' })
  })

  it('requests discovery again for an unknown kind, but not more often than every two seconds', async () => {
    const served: object[] = []
    const { client, clock, paths } = clientOf({ '/api': () => aggregated([]), '/apis': () => aggregated(served) })
    await expect(client.resourceFor(widget)).rejects.toThrow(UnknownKindError)
    served.push(group('example.com', 'v1', 'widgets', 'Widget'))
    await expect(client.resourceFor(widget)).rejects.toThrow(/install its CustomResourceDefinition/)
    expect(paths()).toHaveLength(2)
    await clock.advance(2_000)
    expect(await client.resourceFor(widget)).toMatchObject({ plural: 'widgets' })
    expect(paths()).toHaveLength(4)
  })

  it('requests discovery immediately after the cache is cleared', async () => {
    const served: object[] = []
    const { client } = clientOf({ '/api': () => aggregated([]), '/apis': () => aggregated(served) })
    await client.resourceFor(widget).catch(() => undefined)
    served.push(group('example.com', 'v1', 'widgets', 'Widget'))
    client.discovery.invalidate()
    expect(await client.resourceFor(widget)).toMatchObject({ plural: 'widgets' })
  })

  it('shares one request among concurrent callers, each with its own signal', async () => {
    const { client, paths } = clientOf({
      '/api': () => aggregated([]),
      '/apis': () => aggregated([group('example.com', 'v1', 'widgets', 'Widget')]),
    })
    const reason = new Error('impatient')
    const controller = new AbortController()
    const impatient = client.resourceFor(widget, { signal: controller.signal }).catch((error: unknown) => error)
    const patient = client.resourceFor(widget)
    controller.abort(reason)
    expect(await impatient).toBe(reason)
    expect(await patient).toMatchObject({ plural: 'widgets' })
    expect(paths()).toHaveLength(2)
  })

  it('reports a server that cannot be reached instead of an unknown kind', async () => {
    const { client } = clientOf({ '/api': () => json(403, { kind: 'Status' }) })
    await expect(client.resourceFor(widget)).rejects.toMatchObject({ status: 403 })
  })
})
