/** A console inside a cluster: TLS, and accounts that the API server authenticates and authorizes. */
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { ClusterRoleBindings, ClusterRoles, ConfigMaps, connect, type KubeClient, ServiceAccounts } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConsole } from '../src/index.ts'

const stopping = new AbortController()
let cluster: ClusterUnderTest
let client: KubeClient
let namespace: string
let running: Promise<void>
let link: URL

beforeAll(async () => {
  cluster = await openCluster()
  client = await connect({ kubeconfig: cluster.kubeconfigPath, env: {} })
  namespace = await cluster.createNamespace()
  const ready = Promise.withResolvers<string>()
  const { observer } = await openConsole({ isProtected: true, onReady: ready.resolve })
  const source = { resource: ConfigMaps, namespace }
  const idle = defineOperator({
    name: 'idle-operator',
    controllers: [{ for: source, reconcile: async () => undefined }],
  })
  const { manager } = idle.create({ client, observer })
  running = manager.run(stopping.signal)
  link = new URL(await ready.promise)
})
afterAll(async () => {
  stopping.abort()
  await running
  await client.close()
  await cluster.close()
})

interface Reply {
  readonly status: number | undefined
  readonly protocol: string | null
  readonly cookie: string
  readonly body: string
}

/** The certificate is self-signed. */
function send(path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const options = { host: link.hostname, port: link.port, path, method, rejectUnauthorized: false }
    const sending = request({ ...options, headers: { ...json, ...headers } }, async (response) => {
      const protocol = (response.socket as TLSSocket).getProtocol()
      const [cookie = ''] = response.headers['set-cookie'] ?? []
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode, protocol, cookie, body: text })
    })
    sending.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function tokenOf(name: string): Promise<string> {
  await client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
  const { status } = await client.raw<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })
  return status.token
}

async function allow(name: string): Promise<void> {
  const metadata = { name: `${namespace}-console` }
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const rules = [{ nonResourceURLs: ['/console'], verbs: ['get'] }]
  await client.create(ClusterRoles, { apiVersion, kind: 'ClusterRole', metadata, rules })
  cluster.removeAtClose(`/apis/rbac.authorization.k8s.io/v1/clusterroles/${metadata.name}`)
  await client.create(ClusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', namespace, name }],
  })
  cluster.removeAtClose(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${metadata.name}`)
}

describe('a console inside a cluster', () => {
  it('has no token in its link, and serves TLS', async () => {
    expect(link.href).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/)
    expect(await send('/api/overview')).toMatchObject({ status: 401, protocol: 'TLSv1.3' })
    expect(await send('/api/overview', { authorization: 'Bearer nonsense' })).toMatchObject({ status: 401 })
  })

  it('is closed to an account without the right to get /console', async () => {
    const token = await tokenOf('stranger')
    expect(await send('/api/overview', { authorization: `Bearer ${token}` })).toMatchObject({ status: 403 })
    expect(await send('/api/session', {}, { token })).toMatchObject({ status: 403, cookie: '' })
  })

  it('opens to an account with that right, with its token or a cookie', async () => {
    const token = await tokenOf('reader')
    await allow('reader')
    const authorization = `Bearer ${token}`
    await expect
      .poll(() => send('/api/overview', { authorization }), { timeout: 40_000, interval: 1_000 })
      .toMatchObject({ status: 200, body: expect.stringContaining('idle-operator') })
    const { status, cookie } = await send('/api/session', {}, { token })
    expect(status).toBe(200)
    expect(cookie).toMatch(/^__Host-reeve-console=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/)
    const [pair = ''] = cookie.split(';')
    expect(await send('/api/overview', { cookie: pair })).toMatchObject({ status: 200 })
  })
})
