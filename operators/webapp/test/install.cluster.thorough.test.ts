/** The commands of the section "Installing" in docs/webapp.md, run as a reader would. */
import { type CommandShell, documentedCommands, openCommandShell } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { connect, type DiscoveringClient } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startInstalled } from './support/installed-operator.ts'

const PAGE = 'docs/webapp.md'
const hasClients = (await openCommandShell({})) !== undefined

let cluster: ClusterUnderTest
let admin: DiscoveringClient
let shell: CommandShell

beforeAll(async () => {
  cluster = await openCluster()
  shell = (await openCommandShell({ KUBECONFIG: cluster.kubeconfigPath })) ?? shell
  admin = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'install-test' })
})
afterAll(async () => {
  await admin.close()
  await cluster.close()
})

/** Whatever has the labels of the release, as `kind/name`. */
async function ofRelease(): Promise<string> {
  const kinds =
    'deployments,services,serviceaccounts,secrets,configmaps,leases,roles,rolebindings,clusterroles,' +
    'clusterrolebindings,poddisruptionbudgets,mutatingwebhookconfigurations,validatingwebhookconfigurations'
  return shell(`kubectl get ${kinds} --all-namespaces -l app.kubernetes.io/instance=webapp -o name`)
}

describe.skipIf(!hasClients)('the documented installation (skipped without helm and kubectl)', () => {
  it('runs a WebApp, and leaves nothing but the CustomResourceDefinition behind', async () => {
    const [install = '', ...rest] = await documentedCommands(PAGE, 'install')
    const notes = await shell(install)
    expect(notes).toContain('webapp-operator 0.1.0 is installed in namespace webapp')
    expect(notes).toContain('It watches the namespaces default.')
    {
      await using operator = await startInstalled(cluster, admin, { namespace: 'webapp', name: 'webapp' })
      for (const command of rest) await shell(command)
      expect(await shell('kubectl get webapp shop -o jsonpath={.status.phase}')).toBe('Ready')
      expect(await ofRelease()).toContain('secret/webapp-certificate')
      expect(operator.refusals).toEqual([])
    }
    const [deleteWebApp = '', uninstall = '', ...remaining] = await documentedCommands(PAGE, 'uninstall')
    await shell(deleteWebApp)
    await shell(uninstall)
    expect(await ofRelease()).toBe('')
    expect(await shell('kubectl get secrets,leases,configmaps -n webapp -o name')).not.toContain('webapp')
    for (const command of remaining) await shell(command)
    expect(await shell('kubectl get deployments,services -n default -o name')).not.toContain('shop')
    expect(await shell('kubectl get crd webapps.example.com -o name')).toContain('webapps.example.com')
  })
})
