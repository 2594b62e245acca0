/** A whole run with all faults, and not one secret in its logs, errors, metrics and reports. */
import { inspect } from 'node:util'
import { scratchFolder } from '@reeve/archives/testing'
import { createRegistryClient, parseDockerConfig } from '@reeve/oci'
import { createMetricsRegistry } from '@reeve/runtime/metrics'
import { expect, it } from 'vitest'
import { tenantMetrics } from '../../src/tenant/client/request-metrics.ts'
import type { FaultRule } from '../../src/tenant/simulator/index.ts'
import { EVERY_CALL } from './support/every-call.ts'
import { startForwardProxy } from './support/forward-proxy.ts'
import { recordedLogger } from './support/recorded-logger.ts'
import { simulated, TENANT } from './support/simulated.ts'

const HOST = 'tenant.tenant.example'
const RETRIES = { maxRetries: 1, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 }

const RULES: readonly (FaultRule | undefined)[] = [
  undefined,
  { kind: 'unauthorized' },
  { kind: 'missing-scope' },
  { kind: 'rate-limit', retryAfterSeconds: 0 },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 502, body: 'html' },
  { kind: 'cut' },
  { kind: 'malformed-json' },
  { kind: 'content-type', contentType: 'text/html' },
]

it('the client of a tenant shows no secret anywhere', async () => {
  await using proxy = await startForwardProxy({ account: 'me:proxy-password', names: { [HOST]: '127.0.0.1' } })
  const tokens = [{ name: 'apiToken' }, { name: 'paasToken', scopes: ['InstallerDownload'] }]
  await using tenant = await simulated({ tls: { hosts: [HOST] }, tenants: [{ id: TENANT, tokens }] })
  await using scratch = await scratchFolder()
  const { simulator } = tenant
  const { logger, lines } = recordedLogger()
  const metrics = await createMetricsRegistry({ processMetrics: false })
  const reports: unknown[] = []
  const count = tenantMetrics(metrics)
  const observed = {
    logger,
    retries: RETRIES,
    onRequest: (report: Parameters<typeof count>[0]) => {
      reports.push(report)
      count(report)
    },
  }
  const proxyOptions = { proxy: { url: `http://me:proxy-password@${proxy.address}` } }
  const secrets = new Set<string>(['proxy-password'])
  for (const { value } of simulator.tenant(TENANT).tokens.list()) secrets.add(value)
  for (const { secret } of simulator.tenant(TENANT).oauth.list()) secrets.add(secret)
  secrets.add(simulator.tenant(TENANT).connectionInfo.tenantToken)

  const errors: unknown[] = []
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      return await work()
    } catch (error) {
      errors.push(error)
      return undefined
    }
  }
  const client = tenant.client({ ...observed, ...proxyOptions, paasToken: tenant.token('paasToken') })
  const auths = { [simulator.authority]: { username: TENANT, password: tenant.token('apiToken') } }
  await using registry = createRegistryClient({
    ...observed,
    ...proxyOptions,
    env: {},
    trustedCertificates: simulator.caCertificate,
    credentials: parseDockerConfig(JSON.stringify({ auths }), 'Secret test'),
  })
  const platform = tenant.platform({
    ...observed,
    apiServer: `127.0.0.1:${simulator.authority.split(':')[1]}`,
    oauth: directOauth(),
  })
  for (const rule of RULES) {
    if (rule !== undefined) simulator.faults.add(rule)
    for (const call of EVERY_CALL) {
      const context = { client, apiToken: tenant.token('apiToken'), folder: scratch.path }
      const result = await attempt(() => call.run(context))
      if (call.operation === 'active-gate-token' && result !== undefined)
        secrets.add((result as { token: string }).token)
    }
    const tag = simulator.registry.tags('linux/oneagent')?.at(-1) ?? ''
    await attempt(() => registry.digest(`${simulator.authority}/linux/oneagent:${tag}`))
    const created = await attempt(() => platform.edgeConnects.create({ name: `ec-${errors.length}`, hostMappings: [] }))
    if (created !== undefined) secrets.add((created as { oauthClientSecret: string }).oauthClientSecret)
    simulator.faults.clear()
  }

  // Everything an error contains, private parts of its causes included, in every form in which it might be printed.
  const seen = [
    ...errors.map((error) => inspect(error, { depth: 20, showHidden: true })),
    ...errors.map((error) => JSON.stringify(error)),
    ...lines.map((line) => inspect(line, { depth: 20 })),
    ...reports.map((report) => inspect(report, { depth: 20 })),
    await metrics.expose(),
  ].join('\n')
  expect(errors.length).toBeGreaterThan(50)
  expect(lines.length).toBeGreaterThan(100)
  expect(seen).toContain('tenant_requests_total')
  expect(secrets.size).toBeGreaterThanOrEqual(6)
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(8)
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
      expect(seen.includes(form)).toBe(false)
    }
  }

  function directOauth() {
    const [oauth] = simulator.tenant(TENANT).oauth.list()
    const endpoint = `https://127.0.0.1:${simulator.authority.split(':')[1]}/sso/oauth2/token`
    return { endpoint, clientId: oauth?.id ?? '', clientSecret: oauth?.secret ?? '' }
  }
})
