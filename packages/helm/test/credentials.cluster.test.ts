/** Who the real helm is to a cluster. */
import type { Credentials } from '@reeve/http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HelmSession, helmPath, startHelmSession } from './support/helm-session.ts'

describe.skipIf(helmPath === undefined)('credentials (skipped without helm)', () => {
  let session: HelmSession

  beforeAll(async () => {
    session = await startHelmSession()
  })
  afterAll(() => session.close())

  async function serviceAccountToken(name: string): Promise<string> {
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }
    await session.api('serviceaccounts', { method: 'POST', body })
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const response = await session.api(`serviceaccounts/${name}/token`, { method: 'POST', body: request })
    return response.json<{ status: { token: string } }>().status.token
  }

  const bearer = (token: string): Credentials => ({ authorization: `Bearer ${token}` })
  const fixed = (credentials: Credentials) => ({ get: async () => credentials, renew: async () => undefined })

  test('with too few rights fail with another error than an unreachable cluster', async () => {
    const { namespace, chart, open } = session
    const poor = await open({}, { credentials: fixed(bearer(await serviceAccountToken('poor'))) })
    await expect(poor.list({ namespace })).rejects.toMatchObject({ code: 'HELM_FORBIDDEN' })
    await expect(poor.install({ namespace, name: 'a' }, chart)).rejects.toMatchObject({ code: 'HELM_FORBIDDEN' })
    const unknown = await open({}, { credentials: fixed(bearer('nobody')) })
    await expect(unknown.list({ namespace })).rejects.toMatchObject({ code: 'HELM_FORBIDDEN' })
    const away = await open({}, { server: 'https://127.0.0.1:1' })
    await expect(away.list({ namespace })).rejects.toMatchObject({ code: 'HELM_CLUSTER_UNREACHABLE' })
  })

  test('that have expired are renewed, and the command succeeds', async () => {
    const token = await serviceAccountToken('renewed')
    const { namespace } = session
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
    }
    const binding = {
      ...role,
      kind: 'RoleBinding',
      rules: undefined,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'renewed', namespace }],
    }
    const group = 'apis/rbac.authorization.k8s.io/v1'
    expect((await session.api('roles', { group, method: 'POST', body: role })).status).toBe(201)
    expect((await session.api('rolebindings', { group, method: 'POST', body: binding })).status).toBe(201)
    const credentials = { get: async () => bearer('expired'), renew: async () => bearer(token) }
    const helm = await session.open({}, { credentials })
    // A real API server learns of a role a moment after it is stored.
    await expect.poll(() => helm.list({ namespace }).catch((error: unknown) => error), { timeout: 30_000 }).toEqual([])
  })
})
