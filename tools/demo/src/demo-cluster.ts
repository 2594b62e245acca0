/** The cluster that the demo runs on: its own, a real control plane, or the one you are connected to. */
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'

/** Where the demo runs. */
export type ClusterChoice = 'embedded' | 'real' | 'kubeconfig'

/** A running cluster. */
export interface DemoCluster extends AsyncDisposable {
  /** One line for people. */
  readonly description: string
  /** For kubectl; `undefined` means the current context. */
  readonly kubeconfigPath: string | undefined
  /** Whether its pods only pretend to run. */
  readonly hasSimulatedNodes: boolean
}

/** Where the kubeconfig of the demo's own cluster is written, below the working directory. */
const FOLDER = '.reeve'

/**
 * Starts or finds the cluster.
 *
 * @example
 * await using cluster = await openDemoCluster('embedded', { port: 0 })
 */
export async function openDemoCluster(choice: ClusterChoice, options: { readonly port: number }): Promise<DemoCluster> {
  switch (choice) {
    case 'embedded':
      return openEmbedded(options.port)
    case 'real':
      return openReal()
    case 'kubeconfig':
      return {
        description: 'the current context of your kubeconfig',
        kubeconfigPath: undefined,
        hasSimulatedNodes: false,
        [Symbol.asyncDispose]: async () => undefined,
      }
  }
}

async function openEmbedded(port: number): Promise<DemoCluster> {
  const cluster = await startEmbeddedCluster({ port, nodes: 3 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new Error(`port ${port} is taken: choose another by --port, or leave it out to get a free one`)
  })
  const folder = resolve(FOLDER)
  await mkdir(folder, { recursive: true })
  const kubeconfigPath = resolve(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfigPath)
  return {
    description: `an embedded cluster with three simulated nodes at ${cluster.url}`,
    kubeconfigPath,
    hasSimulatedNodes: true,
    [Symbol.asyncDispose]: () => cluster.stop(),
  }
}

/** The tools for a real control plane are only needed here, and need Go. */
async function openReal(): Promise<DemoCluster> {
  const { ensureBinaries, startRealCluster, startSimulatedNodes } = await import('@reeve/real-cluster')
  await ensureBinaries({ onProgress: (line) => console.error(line) })
  const cluster = await startRealCluster()
  const nodes = await startSimulatedNodes(cluster)
  return {
    description: `a real control plane with simulated nodes at ${cluster.server}`,
    kubeconfigPath: cluster.kubeconfigPath,
    hasSimulatedNodes: true,
    async [Symbol.asyncDispose]() {
      await nodes.stop()
      await cluster.stop()
    },
  }
}
