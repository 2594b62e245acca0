/** Commands that act as a ServiceAccount: the API server limits them to what that account may do. */
import { join } from 'node:path'
import { readReleases } from '@reeve/helm'
import { ConfigMaps, isNotFound, serviceAccount } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeChart } from './support/chart-files.ts'
import { eventually, type HelmSession, helmPath, helms, startHelmSession } from './support/helm-session.ts'

/** Values decide what it looks up and where it writes the result. */
const CURIOUS = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Values.into | default .Release.Namespace }}
data:
  found: {{ lookup "v1" "Secret" (.Values.in | default "") "" | toJson | quote }}
`
const HOOK = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations: { helm.sh/hook: pre-install }
`

describe.skipIf(helmPath === undefined).each(helms)('a ServiceAccount that $name acts as', ({ path }) => {
  let session: HelmSession
  let chart: { readonly path: string }
  let other: string
  const as = () => ({ impersonate: serviceAccount({ namespace: session.namespace, name: 'collector' }) })
  const key = (name: string) => ({ namespace: session.namespace, name })

  beforeAll(async () => {
    session = await startHelmSession(path)
    const { cluster, namespace, folder } = session
    other = await cluster.createNamespace()
    const files = {
      'Chart.yaml': 'apiVersion: v2\nname: curious\nversion: 1.0.0\n',
      'templates/curious.yaml': CURIOUS,
      'templates/hook.yaml': HOOK,
    }
    chart = { path: await writeChart(join(folder, 'curious'), files) }
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    const rules = [{ apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['*'] }]
    const metadata = { name: 'collector' }
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'collector' }
    const subjects = [{ kind: 'ServiceAccount', name: 'collector', namespace }]
    const group = `apis/${apiVersion}`
    const create = async (what: string, body: object) =>
      expect((await session.api(what, { group, method: 'POST', body })).status).toBe(201)
    await create('roles', { apiVersion, kind: 'Role', metadata, rules })
    await create('rolebindings', { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects })
    // A real API server learns of a role a moment after it is stored.
    await eventually(() => session.helm.list({ namespace, ...as() }).catch(() => undefined))
  })
  afterAll(() => session.close())

  test('looks up what that account may read, in a dry run as in an install', async () => {
    const { helm, namespace, client } = session
    const deploy = { values: { in: namespace }, ...as() }
    const rendered = await helm.render(key('own'), chart, { ...deploy, operation: 'install' })
    expect(rendered.manifest).toContain('SecretList')
    expect(rendered.hooks).toEqual([expect.stringContaining('own-hook')])
    expect(await readReleases(client, key('own'))).toEqual([])

    await helm.install(key('own'), chart, deploy)
    expect((await client.get(ConfigMaps, key('own'))).data?.found).toContain('SecretList')
    const [release] = await readReleases(client, key('own'))
    expect(release?.hooks).toEqual(rendered.hooks)
    const upgrade = await helm.render(key('own'), chart, { ...deploy, operation: 'upgrade' })
    expect(upgrade.revision).toBe(2)
    await helm.uninstall(key('own'), as())
  })

  test('finds nothing beyond that, and writes nothing there', async () => {
    const { helm, client } = session
    for (const values of [{}, { in: other }, { in: 'kube-system' }]) {
      const deploy = { values, ...as() }
      await expect(helm.render(key('nosy'), chart, { ...deploy, operation: 'install' })).rejects.toMatchObject({
        code: 'HELM_FORBIDDEN',
      })
      await expect(helm.install(key('nosy'), chart, deploy)).rejects.toMatchObject({ code: 'HELM_FORBIDDEN' })
    }
    const outside = { values: { in: session.namespace, into: other }, ...as() }
    await expect(helm.install(key('nosy'), chart, outside)).rejects.toMatchObject({ code: 'HELM_FORBIDDEN' })
    await expect(client.get(ConfigMaps, { namespace: other, name: 'nosy' })).rejects.toSatisfy(isNotFound)
  })
})
