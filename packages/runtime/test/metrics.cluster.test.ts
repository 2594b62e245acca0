/** Protected metrics, on a cluster whose API server authenticates and authorizes the scrapers. */
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { ClusterRoleBindings, ClusterRoles, ServiceAccounts } from '@reeve/kube'
import { createManager } from '@reeve/runtime/manager'
import { createMetricsRegistry } from '@reeve/runtime/metrics'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

let world: TestCluster
let port: number
let running: Promise<void>
const stopping = new AbortController()

beforeAll(async () => {
  world = await openTestCluster()
  const metrics = await createMetricsRegistry()
  metrics.counter({ name: 'things_total', help: 'Things.' }).inc({})
  const metricsAddress = { host: '127.0.0.1', port: 0, isProtected: true }
  const manager = createManager({ client: world.client, metrics, metricsAddress })
  running = manager.run(stopping.signal)
  port = (await manager.metricsServer?.address())?.port ?? 0
})
afterAll(async () => {
  stopping.abort()
  await running
  await world.close()
})

/** Gets the metrics; the certificate is self-signed. */
function scrape(authorization?: string) {
  return new Promise<{ status: number | undefined; protocol: string | null; body: string }>((resolve, reject) => {
    const headers = authorization === undefined ? {} : { authorization }
    request({ host: '127.0.0.1', port, path: '/metrics', rejectUnauthorized: false, headers }, async (response) => {
      const protocol = (response.socket as TLSSocket).getProtocol()
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      resolve({ status: response.statusCode, protocol, body })
    })
      .on('error', reject)
      .end()
  })
}

async function tokenOf(name: string): Promise<string> {
  const { namespace, client } = world
  await client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
  const { status } = await client.raw<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })
  return status.token
}

/** Allows an account to read metrics, as the role of a monitoring system does. */
async function allow(account: string): Promise<void> {
  const { namespace, client } = world
  const metadata = { name: `${namespace}-metrics` }
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]
  await client.create(ClusterRoles, { apiVersion, kind: 'ClusterRole', metadata, rules })
  world.cluster.removeAtClose(`/apis/rbac.authorization.k8s.io/v1/clusterroles/${metadata.name}`)
  await client.create(ClusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
  })
  world.cluster.removeAtClose(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${metadata.name}`)
}

describe('protected metrics', () => {
  it('are refused without a token, and with one that no account has', async () => {
    expect(await scrape()).toMatchObject({ status: 401, protocol: 'TLSv1.3' })
    expect(await scrape('Basic YTpi')).toMatchObject({ status: 401 })
    expect(await scrape('Bearer nonsense')).toMatchObject({ status: 401 })
  })

  it('are refused to an account without the right to get them', async () => {
    const { status, body } = await scrape(`Bearer ${await tokenOf('stranger')}`)
    expect(status).toBe(403)
    expect(body).toContain('/metrics')
    expect(body).not.toContain('things_total')
  })

  it('are served to an account with the right to get them', async () => {
    const token = await tokenOf('scraper')
    await allow('scraper')
    await expect
      .poll(() => scrape(`Bearer ${token}`), { timeout: 20_000, interval: 1_000 })
      .toMatchObject({
        status: 200,
        body: expect.stringContaining('things_total 1'),
      })
  })
})
