/** A control plane for WebApps. No controllers run: their work would compete with what is measured. */
import { crdManifest } from '@reeve/crd'
import { CustomResourceDefinitions, connect, type KubeClient, Namespaces } from '@reeve/kube'
import { type RealCluster, startRealCluster } from '@reeve/real-cluster'
import { WebAppCrd } from '@reeve/webapp'
import { untilServed } from '../webapp-load.ts'

/** Where the WebApps are. */
export const NAMESPACE = 'operator'
const DEADLINE_MS = 1_200_000

/** What is done with a control plane; the signal ends everything after twenty minutes. */
export type OnControlPlane<R> = (client: KubeClient, cluster: RealCluster, signal: AbortSignal) => Promise<R>

/** Starts a control plane, and stops it afterwards. */
export async function onControlPlane<R>(
  work: OnControlPlane<R>,
  apiServerArguments: readonly string[] = [],
): Promise<R> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  await using cluster = await startRealCluster({
    controllers: [],
    // Each WebApp has a Service, and the usual range has 254 addresses.
    apiServerArguments: ['--service-cluster-ip-range=10.0.0.0/16', ...apiServerArguments],
    signal,
  })
  const client = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'bench' })
  try {
    await client.apply(CustomResourceDefinitions, crdManifest(WebAppCrd))
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
    await untilServed(client, signal)
    return await Promise.race([work(client, cluster, signal), cluster.failed])
  } finally {
    await client.close()
  }
}
