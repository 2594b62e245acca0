/** A token of the cluster ends while a console is open with it. */
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import { createClient, ServiceAccounts } from '@reeve/kube'
import { MetricsGuard } from '@reeve/runtime/metrics'
import { expect, it } from 'vitest'
import { ConsoleModel } from '../src/index.ts'
import { ClusterAccess } from '../src/server/access.ts'
import { openTestConsole } from './support/console-client.ts'

const LIFETIME_SECONDS = 600

it('the console closes to a token that has expired, also behind a cookie, and says what to do', async () => {
  const clock = new SimulatedClock()
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false, clock })
  const client = createClient({ transport: cluster.transport })
  const metadata = { namespace: 'default', name: 'viewer' }
  await client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  const { status } = await client.raw<{ status: { token: string } }>({
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts/viewer/token',
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: LIFETIME_SECONDS },
    },
  })
  const access = new ClusterAccess(new MetricsGuard({ client, clock }))
  await using opened = await openTestConsole(new ConsoleModel(), { access, clock })
  const authorization = `Bearer ${status.token}`
  const begun = await opened.send('/api/session', { method: 'POST', body: { token: status.token } })
  const [cookie = ''] = begun.headers['set-cookie']?.[0]?.split(';') ?? []
  const read = async () => [
    await opened.send('/api/overview', { headers: { authorization } }),
    await opened.send('/api/overview', { headers: { cookie } }),
  ]
  expect((await read()).map((reply) => reply.status)).toEqual([200, 200])
  await clock.advance((LIFETIME_SECONDS + 60) * 1_000)
  const after = await read()
  expect(after.map((reply) => reply.status)).toEqual([401, 401])
  for (const { body } of after) expect(body).toContain('kubectl create token')
  await cluster.stop()
})
