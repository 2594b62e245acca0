/** The commands of the section "Installing" in docs/collector.md, run as a reader would. */
import { readFile } from 'node:fs/promises'
import { type CommandShell, documentedCommands, openCommandShell } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster, trustAuthority } from '@reeve/cluster-under-test'
import { ChartServer, packChart } from '@reeve/helm/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startInstalled } from './support/installed-operator.ts'

const PAGE = 'docs/collector.md'
const SAMPLE_CHART = new URL('../charts/log-collector/', import.meta.url)
const CHART_FILES = [
  'values.yaml',
  ...['deployment.yaml', 'secret.yaml', 'service.yaml', '_names.tpl'].map((name) => `templates/${name}`),
]
const KINDS =
  'deployments,services,serviceaccounts,secrets,configmaps,leases,roles,rolebindings,clusterroles,' +
  'clusterrolebindings,poddisruptionbudgets,validatingwebhookconfigurations'
const hasClients = (await openCommandShell({})) !== undefined

let cluster: ClusterUnderTest
let charts: ChartServer
let shell: CommandShell

beforeAll(async () => {
  cluster = await openCluster({ isExclusive: true })
  charts = await ChartServer.start()
  const files = await Promise.all(
    CHART_FILES.map(async (file) => [file, await readFile(new URL(file, SAMPLE_CHART), 'utf8')] as const),
  )
  charts.add(
    'log-collector',
    '1.0.0',
    packChart({ name: 'log-collector', version: '1.0.0' }, Object.fromEntries(files)),
  )
  const env = { KUBECONFIG: cluster.kubeconfigPath, CHARTS: charts.repository }
  shell = (await openCommandShell(env)) ?? shell
})
afterAll(async () => {
  await charts?.[Symbol.asyncDispose]()
  await cluster?.close()
})

describe.skipIf(!hasClients)('the documented installation (skipped without helm and kubectl)', () => {
  it('installs a release for a tenant, and leaves nothing but the CustomResourceDefinition behind', async () => {
    const [install = '', ...rest] = await documentedCommands(PAGE, 'install')
    const [deleteCollector = '', ...remaining] = await documentedCommands(PAGE, 'uninstall')
    expect(await shell(install)).toContain('collector-operator 0.1.0 is installed in namespace collectors')
    {
      using _trust = trustAuthority(charts.certificate)
      await using operator = await startInstalled(cluster, { namespace: 'collectors', name: 'collectors' })
      for (const command of rest) await shell(command)
      expect(await shell('kubectl get collector acme-logs -n collectors -o jsonpath={.status.chart}')).toBe(
        'log-collector-1.0.0',
      )
      expect(
        await shell('kubectl get deployment log-collector-eu1 -n acme -o jsonpath={.status.availableReplicas}'),
      ).toBe('2')
      expect(operator.refusals).toEqual([])
      await shell(deleteCollector)
      expect(await shell('kubectl get deployments,services,secrets -n acme -o name')).not.toContain('log-collector')
    }
    for (const command of remaining) await shell(command)
    expect(await shell(`kubectl get ${KINDS} --all-namespaces -l app.kubernetes.io/instance=collectors -o name`)).toBe(
      '',
    )
    expect(await shell('kubectl get crd collectors.example.com -o name')).toContain('collectors.example.com')
  })
})
