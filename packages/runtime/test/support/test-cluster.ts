/** The cluster of a suite (embedded, or real when the run says so) with its own client and namespace. */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { connect, type DiscoveringClient } from '@reeve/kube'

/** A cluster to test on, through TLS and a kubeconfig as an operator on a laptop uses it. */
export interface TestCluster {
  readonly cluster: ClusterUnderTest
  readonly client: DiscoveringClient
  readonly namespace: string
  close(): Promise<void>
}

/** Opens it. Close it in `afterAll`. */
export async function openTestCluster(): Promise<TestCluster> {
  const cluster = await openCluster()
  const client = await connect({ kubeconfig: cluster.kubeconfigPath, env: {}, fieldManager: 'runtime-test' })
  const namespace = await cluster.createNamespace()
  return {
    cluster,
    client,
    namespace,
    close: async () => {
      await client.close()
      await cluster.close()
    },
  }
}
