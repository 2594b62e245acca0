import { Readable } from 'node:stream'
import type { OutboundRequest } from '@reeve/http'
import { describe, expect, it } from 'vitest'
import { createEnvironmentClient } from '../environment/client/environment-client.ts'
import { SimulatedEnvironment } from '../environment/simulator/simulated-environment.ts'
import { EnvironmentWatch } from './environment-watch.ts'
import { KNOWN_AFTER_APPLY } from './placeholders.ts'

const HOST = 'abc12345.live.dynatrace.com'
const CLUSTER = 'b1f7a1de-0000-4000-8000-000000000002'

function watched() {
  const environment = new SimulatedEnvironment({ tenants: [{ id: 'abc12345' }] })
  const watch = new EnvironmentWatch()
  const apiToken = environment.tenant('abc12345').tokens.get('apiToken')?.value ?? ''
  const client = createEnvironmentClient({
    apiUrl: `https://${HOST}/api`,
    apiToken,
    sender: watch.over(environment.sender),
  })
  return { environment, watch, client, apiToken }
}

const request = (method: OutboundRequest['method'], path: string, body?: string): OutboundRequest => ({
  method,
  url: new URL(`https://${HOST}${path}`),
  headers: {},
  ...(body !== undefined && { body }),
})

describe('the watch over an environment', () => {
  it('lets questions pass, those that are asked by POST included', async () => {
    const { client, watch, environment, apiToken } = watched()
    expect(await client.tokens.scopes(apiToken)).toContain('settings.read')
    expect((await client.connectionInfo.oneAgent()).tenantUuid).toBe('abc12345')
    expect(environment.calls().map(({ operation }) => operation)).toHaveLength(2)
    expect(watch.changes).toEqual([])
  })

  it('writes changes down instead of sending them', async () => {
    const { client, watch, environment } = watched()
    await client.tokens.createForActiveGate('dynakube')
    await client.settings.createClusterSetting({ label: 'shop', clusterId: CLUSTER })
    expect(environment.calls()).toEqual([])
    expect(watch.changes).toEqual([
      { action: 'create', what: 'ActiveGate token dynakube', environment: HOST },
      { action: 'create', what: 'setting builtin:cloud.kubernetes "shop"', environment: HOST },
    ])
  })

  it('names a change once, however often it is asked for', async () => {
    const { client, watch } = watched()
    await client.tokens.createForActiveGate('dynakube')
    await client.tokens.createForActiveGate('dynakube')
    expect(watch.changes).toHaveLength(1)
  })

  it('goes on as if the cluster had been announced', async () => {
    const { client, environment } = watched()
    expect(await client.settings.findCluster(CLUSTER)).toBeUndefined()
    await client.settings.createClusterSetting({ label: 'shop', clusterId: CLUSTER })
    expect(await client.settings.findCluster(CLUSTER)).toEqual({ id: KNOWN_AFTER_APPLY, name: 'shop' })
    expect((await client.settings.logMonitoringSettings(KNOWN_AFTER_APPLY)).totalCount).toBe(0)
    environment.clearCalls()
    await client.enrichment.rules(CLUSTER, KNOWN_AFTER_APPLY)
    expect(environment.calls().map(({ path }) => path)).toEqual([expect.stringContaining('scope=environment')])
  })

  it('finds a cluster that the environment knows, although it would be announced once more', async () => {
    const { client, environment } = watched()
    const known = createEnvironmentClient({
      apiUrl: `https://${HOST}/api`,
      apiToken: environment.tenant('abc12345').tokens.get('apiToken')?.value ?? '',
      sender: environment.sender,
    })
    await known.settings.createClusterSetting({ label: 'shop', clusterId: CLUSTER })
    await client.settings.createClusterSetting({ label: 'shop', clusterId: CLUSTER })
    const entity = await client.settings.findCluster(CLUSTER)
    expect(entity).toEqual(await known.settings.findCluster(CLUSTER))
    expect(entity?.id).toMatch(/^KUBERNETES_CLUSTER-/)
  })

  it('refuses what it does not know', async () => {
    const { watch, environment } = watched()
    const sender = watch.over(environment.sender)
    for (const unknown of [request('POST', '/api/v2/events/ingest', '{}'), request('DELETE', '/api/v2/tokens/1')]) {
      await expect(sender.send(unknown)).rejects.toMatchObject({ code: 'PLAN_UNFORESEEN_REQUEST' })
    }
    expect(environment.calls()).toEqual([])
  })

  it('remembers who wants to be asked later', async () => {
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
