/** The commands of the section "Installing" in docs/dynatrace.md, run as a reader would. */
import { type CommandShell, documentedCommands, openCommandShell } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster, trustAuthority } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { until } from '../support/until.ts'
import { startInstalled } from './support/installed-operator.ts'

const PAGE = 'docs/dynatrace.md'
const TENANT = 'abc12345'
const KINDS =
  'deployments,daemonsets,statefulsets,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,' +
  'poddisruptionbudgets,mutatingwebhookconfigurations,validatingwebhookconfigurations,csidrivers,priorityclasses,crds'
const hasClients = (await openCommandShell({})) !== undefined

let cluster: ClusterUnderTest
let simulator: TenantSimulator
let shell: CommandShell

beforeAll(async () => {
  // Gateways have an initial probe delay of a minute and a half.
  cluster = await openCluster({ isExclusive: true, embedded: { controllers: { honourProbeDelays: false } } })
  simulator = await startTenantSimulator({ tenants: [{ id: TENANT }] })
  const { tokens } = simulator.tenant(TENANT)
  const env = {
    KUBECONFIG: cluster.kubeconfigPath,
    // Each client runs for a moment only.
    GOGC: 'off',
    API_URL: simulator.url(TENANT),
    API_TOKEN: tokens.get('apiToken')?.value ?? '',
    DATA_INGEST_TOKEN: tokens.get('dataIngestToken')?.value ?? '',
  }
  shell = (await openCommandShell(env)) ?? shell
})
afterAll(async () => {
  await simulator?.close()
  await cluster?.close()
})

describe.skipIf(!hasClients)('the documented installation (skipped without helm and kubectl)', () => {
  it('monitors the cluster, and leaves nothing behind', async () => {
    const [install = '', ...rest] = await documentedCommands(PAGE, 'install')
    const [deleteResources = '', ...remaining] = await documentedCommands(PAGE, 'uninstall')
    await shell(install)
    {
      using _trust = trustAuthority(simulator.caCertificate)
      await using operator = await startInstalled(cluster, 'dynatrace')
      for (const command of rest) await shell(command)
      expect(await shell('kubectl get dynakube dynakube -n dynatrace -o jsonpath={.status.phase}')).toBe('Running')
      expect(
        await shell('kubectl get daemonset dynakube-oneagent -n dynatrace -o jsonpath={.status.numberReady}'),
      ).toBe('3')
      expect(operator.refusals).toEqual([])
      await shell(deleteResources)
      // A real cluster collects the objects of a deleted owner in its own time.
      await until('the agents to be deleted', async () => {
        const agents = await shell('kubectl get daemonsets,statefulsets -n dynatrace -o name')
        return !agents.includes('dynakube')
      })
    }
    for (const command of remaining) await shell(command)
    const left = `kubectl get ${KINDS} --all-namespaces -l app.kubernetes.io/name=dynatrace-operator -o name`
    expect(await shell(left)).toBe('')
    expect(await shell('kubectl get crd -o name')).not.toContain('dynatrace.com')
  }, 240_000)
})
