import { Readable } from 'node:stream'
import type { OutboundRequest } from '@reeve/http'
import { KNOWN_AFTER_APPLY } from '@reeve/plan'
import { describe, expect, it } from 'vitest'
import { createTenantClient } from '../tenant/client/tenant-client.ts'
import { SimulatedTenants } from '../tenant/simulator/simulated-tenants.ts'
import { TenantWatch } from './tenant-watch.ts'

const HOST = 'abc12345.live.dynatrace.com'
const CLUSTER = 'b1f7a1de-0000-4000-8000-000000000002'

function watched() {
  const simulator = new SimulatedTenants({ tenants: [{ id: 'abc12345' }] })
  const watch = new TenantWatch()
  const apiToken = simulator.tenant('abc12345').tokens.get('apiToken')?.value ?? ''
  const client = createTenantClient({
    apiUrl: `https://${HOST}/api`,
    apiToken,
    sender: watch.over(simulator.sender),
  })
  return { simulator, watch, client, apiToken }
}

const request = (method: OutboundRequest['method'], path: string, body?: string): OutboundRequest => ({
  method,
  url: new URL(`https://${HOST}${path}`),
  headers: {},
  ...(body !== undefined && { body }),
})

describe('the watch over a tenant', () => {
  it('passes reads, including those by POST', async () => {
    const { client, watch, simulator, apiToken } = watched()
    expect(await client.tokens.scopes(apiToken)).toContain('settings.read')
    expect((await client.connectionInfo.oneAgent()).tenantUuid).toBe('abc12345')
    expect(simulator.calls().map(({ operation }) => operation)).toHaveLength(2)
    expect(watch.changes).toEqual([])
  })

  it('writes changes down instead of sending them', async () => {
    const { client, watch, simulator } = watched()
    await client.tokens.createForActiveGate('dynakube')
    await client.settings.createClusterSetting({ label: 'shop', clusterId: CLUSTER })
    expect(simulator.calls()).toEqual([])
    expect(watch.changes).toEqual([
      { action: 'create', what: 'ActiveGate token dynakube', tenant: HOST },
      { action: 'create', what: 'setting builtin:cloud.kubernetes "shop"', tenant: HOST },
    ])
  })

  it('names a change once, however often it is requested', async () => {
    const { client, watch } = watched()
    await client.tokens.createForActiveGate('dynakube')
    await client.tokens.createForActiveGate('dynakube')
    expect(watch.changes).toHaveLength(1)
  })

  it('continues as if the cluster had been registered', async () => {
    const { client, simulator } = watched()
    expect(await client.settings.findCluster(CLUSTER)).toBeUndefined()
    await client.settings.createClusterSetting({ label: 'shop', clusterId: CLUSTER })
    expect(await client.settings.findCluster(CLUSTER)).toEqual({ id: KNOWN_AFTER_APPLY, name: 'shop' })
    expect((await client.settings.logMonitoringSettings(KNOWN_AFTER_APPLY)).totalCount).toBe(0)
    simulator.clearCalls()
    await client.enrichment.rules(CLUSTER, KNOWN_AFTER_APPLY)
    expect(simulator.calls().map(({ path }) => path)).toEqual([expect.stringContaining('scope=environment')])
  })

  it('finds a cluster that the tenant knows, although it would be registered again', async () => {
    const { client, simulator } = watched()
    const known = createTenantClient({
      apiUrl: `https://${HOST}/api`,
      apiToken: simulator.tenant('abc12345').tokens.get('apiToken')?.value ?? '',
      sender: simulator.sender,
    })
    await known.settings.createClusterSetting({ label: 'shop', clusterId: CLUSTER })
    await client.settings.createClusterSetting({ label: 'shop', clusterId: CLUSTER })
    const entity = await client.settings.findCluster(CLUSTER)
    expect(entity).toEqual(await known.settings.findCluster(CLUSTER))
    expect(entity?.id).toMatch(/^KUBERNETES_CLUSTER-/)
  })

  it('refuses what it does not know', async () => {
    const { watch, simulator } = watched()
    const sender = watch.over(simulator.sender)
    for (const unknown of [request('POST', '/api/v2/events/ingest', '{}'), request('DELETE', '/api/v2/tokens/1')]) {
      await expect(sender.send(unknown)).rejects.toMatchObject({ code: 'PLAN_UNFORESEEN_REQUEST' })
    }
    expect(simulator.calls()).toEqual([])
  })

  it('records tenants that are unavailable', async () => {
    const { watch } = watched()
    const statuses = [503, 200]
    const sender = watch.over({
      send: async ({ url }) => ({ status: statuses.shift() ?? 0, headers: {}, url, body: Readable.from([]) }),
      close: async () => undefined,
    })
    await sender.send(request('GET', '/api/v1/time'))
    expect([...watch.unavailable]).toEqual([[HOST, 503]])
    await sender.send(request('GET', '/api/v1/time'))
    expect([...watch.unavailable]).toEqual([])
  })
})
