import { readFile } from 'node:fs/promises'
import { runCaptured } from '@reeve/cli/testing'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
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
  it.each(['run', 'validate', 'crd', 'rbac'])('shows options and examples of %s', async (name) => {
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
    const [clusterRole, role] = parseAllDocuments(stdout).map((document) => document.toJS())
    expect(code).toBe(0)
    expect(clusterRole).toMatchObject({ kind: 'ClusterRole', metadata: { name: 'webapp-operator' } })
    expect(clusterRole.rules).toContainEqual({
      apiGroups: ['apps'],
      resources: ['deployments'],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    })
    expect(role).toMatchObject({ kind: 'Role', metadata: { name: 'webapp-operator', namespace: 'webapp' } })
  })

  it('ends with 1 and the reason when there is no cluster to run against', async () => {
    const { code, stderr } = await runCaptured(main, ['run', '--kubeconfig', '/nowhere/config'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^webapp-operator: .*\/nowhere\/config/)])
  })
})

describe('validate', () => {
  it('lets a WebApp pass that has only what is required', async () => {
    expect(await validate(SHOP)).toEqual({ code: 0, stdout: '1 resource checked, 0 errors, 0 warnings\n', stderr: '' })
  })

  it('tells what would be refused, and where it stands', async () => {
    const { code, stdout } = await validate(SHOP.replace('nginx:1.29', 'nginx\n  replicas: -1'))
    expect(code).toBe(1)
    expect(stdout).toContain('<stdin>:7:3: error: WebApp shop: spec.replicas: ')
    expect(stdout).toContain('<stdin>:6:3: error: WebApp shop: spec.image: "nginx" has neither tag nor digest')
    expect(stdout).toContain('1 resource checked, 2 errors, 0 warnings\n')
  })

  it('warns without failing, and tells it to machines', async () => {
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

  it('bears whatever claims to be a WebApp', async () => {
    const { code, stdout } = await validate('apiVersion: example.com/v1\nkind: WebApp\n')
    expect([code, stdout]).toEqual([1, expect.stringContaining('WebApp (no name): spec: ')])
  })
})
