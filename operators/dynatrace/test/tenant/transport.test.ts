/** Proxies, private authorities and certificates, over real sockets. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { issueAuthority } from '@reeve/runtime/certificates'
import { describe, expect, it } from 'vitest'
import { createPlatformClient } from '../../src/tenant/client/platform/platform-client.ts'
import { createTenantClient } from '../../src/tenant/client/tenant-client.ts'
import { startForwardProxy } from './support/forward-proxy.ts'
import { simulated, TENANT } from './support/simulated.ts'

// Names lead nowhere but through the proxy, and loopback addresses are never proxied.
const HOST = 'tenant.tenant.example'
const names = { [HOST]: '127.0.0.1' }
const proxied = () => simulated({ tls: { hosts: [HOST] } })

describe('a proxy', () => {
  it('with a password carries every call', async () => {
    await using proxy = await startForwardProxy({ account: 'me:p%w', names })
    await using tenant = await proxied()
    const client = tenant.client({ proxy: { url: `http://me:p%25w@${proxy.address}` } })
    expect((await client.connectionInfo.oneAgent()).tenantUuid).toBe(TENANT)
    expect(proxy.seen).toEqual([`CONNECT ${tenant.simulator.authority}`])
  })

  it('without scheme counts as http', async () => {
    await using proxy = await startForwardProxy({ account: 'me:pw', names })
    await using tenant = await proxied()
    const url = `me:pw@${proxy.address.replace('127.0.0.1', 'localhost')}`
    await tenant.client({ proxy: { url } }).versions.latestGateway()
    expect(proxy.seen).toHaveLength(1)
  })

  it('that refuses the password is named as the one that refused, without the password', async () => {
    await using proxy = await startForwardProxy({ account: 'me:right', names })
    await using tenant = await proxied()
    const client = tenant.client({ proxy: { url: `http://me:wrong-password@${proxy.address}` } })
    const error = await client.versions.latestGateway().catch((reason: Error) => reason)
    expect(error).toMatchObject({
      code: 'HTTP_CONNECTION',
      phase: 'connect',
      message: expect.stringContaining(`${HOST}:`),
      proxy: { host: proxy.address, status: 407 },
    })
    expect(String(error)).toContain(`the proxy ${proxy.address} rejected the tunnel to ${HOST}:`)
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('wrong-password')
    // It is not called again: proxies lock accounts that fail too often.
    expect(proxy.seen).toHaveLength(1)
  })

  it('is left out for the hosts of the no-proxy list', async () => {
    await using proxy = await startForwardProxy({ names })
    await using tenant = await proxied()
    const client = tenant.client({ proxy: { url: `http://${proxy.address}`, noProxy: '.tenant.example' } })
    // The name leads nowhere without the proxy.
    await expect(client.versions.latestGateway()).rejects.toMatchObject({ code: 'HTTP_CONNECTION' })
    expect(proxy.seen).toEqual([])
  })

  it('is taken from the process when the resource has none, and from nowhere else', async () => {
    await using proxy = await startForwardProxy({ names })
    await using tenant = await proxied()
    const env = { HTTPS_PROXY: `http://${proxy.address}` }
    await tenant.client({ env }).versions.latestGateway()
    expect(proxy.seen).toHaveLength(1)
    await using other = await startForwardProxy({ names })
    await tenant.client({ env, proxy: { url: `http://${other.address}` } }).versions.latestGateway()
    expect([proxy.seen.length, other.seen.length]).toEqual([1, 1])
  })

  it('that cannot be read is refused before anything is sent', async () => {
    await using tenant = await simulated()
    expect(() => tenant.client({ proxy: { url: '10.0.0.1:3128' } })).toThrow(
      expect.objectContaining({ code: 'HTTP_CONFIG' }),
    )
    expect(tenant.received()).toEqual([])
  })

  it('carries plain http as well', async () => {
    const server = createServer((_request, response) => response.end('{"latestGatewayVersion":"1"}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo // it listens on TCP
    await using proxy = await startForwardProxy({ account: 'me:pw', names })
    await using client = createTenantClient({
      apiUrl: `http://${HOST}:${port}/api`,
      apiToken: 'api-token-value',
      proxy: { url: `http://me:pw@${proxy.address}` },
      env: {},
    })
    expect(await client.versions.latestGateway()).toBe('1')
    expect(proxy.seen).toEqual([`GET http://${HOST}:${port}/api/v1/deployment/installer/gateway/unix/latest/metainfo`])
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('certificates', () => {
  it('of a private authority are accepted when it is trusted, and only then', async () => {
    await using tenant = await simulated()
    await tenant.client().versions.latestGateway()
    const stranger = await issueAuthority('stranger', { nowMs: Date.now(), validityMs: 3_600_000 })
    for (const trustedCertificates of ['', 'no certificate at all', stranger.certificate]) {
      const untrusting = tenant.client({ trustedCertificates })
      await expect(untrusting.versions.latestGateway()).rejects.toMatchObject({
        code: 'HTTP_CONNECTION',
        message: expect.stringMatching(/certificate/i),
      })
    }
  })

  it('are found in a bundle with other ones and with text in between', async () => {
    await using tenant = await simulated()
    const other = await issueAuthority('other', { nowMs: Date.now(), validityMs: 3_600_000 })
    const trustedCertificates = `# ours\n${other.certificate}\n# theirs\n${tenant.simulator.caCertificate}\n`
    await tenant.client({ trustedCertificates }).versions.latestGateway()
  })

  it('that have expired are refused, unless nothing is checked', async () => {
    await using tenant = await simulated()
    tenant.simulator.faults.add({ kind: 'expired-certificate' })
    await expect(tenant.client().versions.latestGateway()).rejects.toThrow(/expired/)
    const careless = tenant.client({ trustedCertificates: '', skipCertificateCheck: true })
    expect(await careless.versions.latestGateway()).not.toBe('')
  })

  it('that cannot be read are an error for EdgeConnect', () => {
    const oauth = { endpoint: 'https://sso.example', clientId: 'id', clientSecret: 'secret' }
    const options = { apiServer: 'tenant.example', oauth, trustedCertificates: 'nonsense' }
    expect(() => createPlatformClient(options)).toThrow(expect.objectContaining({ code: 'HTTP_CONFIG' }))
  })
})

it.each([
  'evil.tld/.apps.dynatrace.com',
  't.apps.dynatrace.com@evil.tld',
  'evil.tld?x',
  'evil.tld#x',
  'evil.tld\\x',
  '',
])('the client of a tenant sends no access token for an EdgeConnect to %j, which is not a host', (apiServer) => {
  const oauth = { endpoint: 'https://sso.example', clientId: 'id', clientSecret: 'secret' }
  expect(() => createPlatformClient({ apiServer, oauth })).toThrow(/apiServer.*is not a host/)
})

it('the client of a tenant fails with a clear error when nothing listens', async () => {
  await using tenant = await simulated()
  const client = tenant.client()
  await tenant.simulator.close()
  await expect(client.versions.latestGateway()).rejects.toMatchObject({ code: 'HTTP_CONNECTION', phase: 'connect' })
})

it('the client of a tenant sends nothing once it is closed', async () => {
  await using tenant = await simulated()
  const client = tenant.client()
  await client.versions.latestGateway()
  await client.close()
  await expect(client.versions.latestGateway()).rejects.toMatchObject({ code: 'HTTP_CONNECTION' })
})
