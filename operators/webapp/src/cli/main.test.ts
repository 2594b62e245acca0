import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCaptured } from '@reeve/cli/testing'
import { crdManifest } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  CustomResourceDefinitions,
  connect,
  createClient,
  Deployments,
  Namespaces,
  SubjectAccessReviews,
  type UnknownObject,
} from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type WebApp, WebAppCrd, WebApps } from '../api/webapp.ts'
import { main } from './main.ts'

const validate = (stdin: string, ...args: readonly string[]) =>
  runCaptured(main, ['validate', '-f', '-', ...args], { stdin })

const SHOP = `apiVersion: example.com/v1
kind: WebApp
metadata:
  name: shop
spec:
  image: nginx:1.29
`

describe('the command line', () => {
  it.each(['run', 'validate', 'plan', 'crd', 'rbac'])('shows options and examples of %s', async (name) => {
    const { code, stdout } = await runCaptured(main, ['help', name])
    expect(code).toBe(0)
    expect(stdout).toContain('Examples:')
    expect(stdout).toContain(`webapp-operator ${name}`)
  })

  it('prints the CRD that its chart installs', async () => {
    const { code, stdout } = await runCaptured(main, ['crd'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^apiVersion: apiextensions/)])
    expect(await readFile(new URL('../../chart/crds/webapps.example.com.yaml', import.meta.url), 'utf8')).toContain(
      stdout,
    )
  })

  it('prints the roles that the operator needs', async () => {
    const { code, stdout } = await runCaptured(main, ['rbac', '--namespace', 'webapp'])
    const [account, clusterRole, , role] = parseAllDocuments(stdout).map((document) => document.toJS())
    expect(code).toBe(0)
    expect(account).toMatchObject({
      kind: 'ServiceAccount',
      metadata: { name: 'webapp-operator', namespace: 'webapp' },
    })
    expect(clusterRole).toMatchObject({ kind: 'ClusterRole', metadata: { name: 'webapp-operator' } })
    expect(clusterRole.rules).toContainEqual({
      apiGroups: ['apps'],
      resources: ['deployments'],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    })
    expect(role).toMatchObject({ kind: 'Role', metadata: { name: 'webapp-operator', namespace: 'webapp' } })
  })

  it('prints roles that, once applied, are those of its account in the cluster', async () => {
    await using cluster = await startEmbeddedCluster({ listen: false })
    const client = createClient({ transport: cluster.transport, fieldManager: 'admin' })
    for (const name of ['ops', 'shop']) {
      await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    const args = ['--namespace', 'ops', '--service-account', 'web', '--watch-namespace', 'shop']
    const { stdout } = await runCaptured(main, ['rbac', ...args])
    for (const document of parseAllDocuments(stdout)) {
      const object = document.toJS() as UnknownObject
      await client.apply(await client.resourceFor(object), object)
    }
    const mayList = async (resource: string, namespace: string) => {
      const resourceAttributes = {
        verb: 'list',
        group: resource === 'webapps' ? 'example.com' : 'apps',
        resource,
        namespace,
      }
      const { status } = await client.create(SubjectAccessReviews, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: { user: 'system:serviceaccount:ops:web', resourceAttributes },
      })
      return status?.allowed
    }
    expect([await mayList('webapps', 'shop'), await mayList('deployments', 'shop')]).toEqual([true, true])
    expect(await mayList('deployments', 'ops')).toBe(false)
  })

  it('exits with 1 and the reason if there is no cluster', async () => {
    const { code, stderr } = await runCaptured(main, ['run', '--kubeconfig', '/nowhere/config'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^webapp-operator: .*\/nowhere\/config/)])
  })
})

describe('validate', () => {
  it('accepts a WebApp with only the required fields', async () => {
    expect(await validate(SHOP)).toEqual({ code: 0, stdout: '1 resource checked, 0 errors, 0 warnings\n', stderr: '' })
  })

  it('reports what would be rejected, with file and line', async () => {
    const { code, stdout } = await validate(SHOP.replace('nginx:1.29', 'nginx\n  replicas: -1'))
    expect(code).toBe(1)
    expect(stdout).toContain('<stdin>:7:3: error: WebApp shop: spec.replicas: ')
    expect(stdout).toContain('<stdin>:6:3: error: WebApp shop: spec.image: "nginx" has neither tag nor digest')
    expect(stdout).toContain('1 resource checked, 2 errors, 0 warnings\n')
  })

  it('reports warnings without failing, also in JSON', async () => {
    const { code, stdout } = await validate(SHOP.replace('1.29', 'latest'), '-o', 'json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      checked: 1,
      findings: [{ file: '<stdin>', line: 6, severity: 'warning', field: 'spec.image' }],
    })
  })

  it('prints what its documentation shows', async () => {
    const page = await readFile(new URL('../../../../docs/webapp.md', import.meta.url), 'utf8')
    const [, shown] = /^\$ webapp-operator validate -f webapp\.yaml\n([\s\S]*?)^```$/m.exec(page) ?? []
    const { stdout } = await validate(SHOP.replace('1.29', 'latest\n  replicas: -1'))
    expect(stdout.replaceAll('<stdin>', 'webapp.yaml')).toBe(shown)
  })

  it('handles any object of kind WebApp', async () => {
    const { code, stdout } = await validate('apiVersion: example.com/v1\nkind: WebApp\n')
    expect([code, stdout]).toEqual([1, expect.stringContaining('WebApp (no name): spec: ')])
  })
})

describe('plan', () => {
  const plan = (stdin: string, ...args: readonly string[]) =>
    runCaptured(main, ['plan', '-f', '-', '--offline', '-n', 'shop', ...args], { stdin })

  it('prints what would be created for a file, and exits 2', async () => {
    expect(await plan(SHOP)).toEqual({
      code: 2,
      stderr: '',
      stdout: [
        'WebApp shop/shop',
        '    + Deployment  shop/shop',
        '    + Service     shop/shop',
        '    + WebApp      shop/shop',
        '',
        'Plan: 3 to create, 0 to change, 0 to remove.',
        '',
      ].join('\n'),
    })
  })

  it('prints JSON for other programs', async () => {
    const { code, stdout } = await plan(SHOP, '-o', 'json')
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ formatVersion: 1, summary: { create: 3, remove: 0 } })
  })

  it('exits 1 with the reason when a resource is invalid, and 64 without files or a cluster', async () => {
    const { code, stdout } = await plan(SHOP.replace('nginx:1.29', 'nginx'))
    expect([code, stdout]).toEqual([1, expect.stringContaining('error: WebApp shop/shop: spec.image: "nginx" has')])
    expect(await runCaptured(main, ['plan', '--offline'])).toMatchObject({ code: 64 })
  })

  it('reads a cluster, names a single resource, and exits 0 when nothing would change', async () => {
    await using cluster = await startEmbeddedCluster()
    const folder = await mkdtemp(join(tmpdir(), 'reeve-plan-'))
    const kubeconfig = join(folder, 'kubeconfig')
    await cluster.writeKubeconfig(kubeconfig)
    const online = (...args: readonly string[]) => runCaptured(main, ['plan', '--kubeconfig', kubeconfig, ...args])
    const missing = await online()
    expect([missing.code, missing.stdout]).toEqual([0, expect.stringContaining('webapps.example.com is not installed')])
    const client = await connect({ kubeconfig })
    await client.create(CustomResourceDefinitions, crdManifest(WebAppCrd))
    for (const name of ['shop', 'blog']) {
      const spec = { image: 'nginx:1.29' } as WebApp['spec'] // the server adds the defaults
      const metadata = { namespace: 'default', name }
      await client.create(WebApps, { apiVersion: 'example.com/v1', kind: 'WebApp', metadata, spec })
    }
    const { code, stdout } = await online('-n', 'default', 'shop')
    expect([code, stdout]).toEqual([2, expect.stringContaining('Plan: 2 to create, 0 to change, 0 to remove.')])
    expect(stdout).not.toContain('blog')
    expect((await client.listAll(Deployments)).items).toEqual([])
    await client.close()
    await rm(folder, { recursive: true, force: true })
  })
})
