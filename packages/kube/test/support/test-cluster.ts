/** A cluster for tests of the client: the embedded one, or the real one that `npm run test:real` started. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type ClientOptions,
  type ClusterConfig,
  connect,
  type DiscoveringClient,
  loadConfig,
  Namespaces,
} from '@reeve/kube'

/** A cluster and an exclusive namespace in it. */
export interface TestCluster extends AsyncDisposable {
  readonly client: DiscoveringClient
  readonly namespace: string
  readonly config: ClusterConfig
  /** Another client for the same cluster. */
  connect(options: ClientOptions): Promise<DiscoveringClient>
}

/** Connects through a kubeconfig and TLS, like an operator on a laptop. */
export async function openTestCluster(): Promise<TestCluster> {
  const stack = new AsyncDisposableStack()
  const kubeconfig = process.env.REEVE_TEST_CLUSTER === 'real' ? realKubeconfig() : await embeddedKubeconfig(stack)
  const connectTo = async (options: ClientOptions) => {
    const client = await connect({ ...options, kubeconfig, env: {} })
    stack.defer(() => client.close())
    return client
  }
  const client = await connectTo({ fieldManager: 'kube-test' })
  const created = await client.create(Namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { generateName: 'kube-test-' },
  })
  const namespace = created.metadata.name
  return {
    client,
    namespace,
    config: await loadConfig({ kubeconfig, env: {} }),
    connect: connectTo,
    async [Symbol.asyncDispose]() {
      await client.delete(Namespaces, { name: namespace })
      await stack.disposeAsync()
    },
  }
}

function realKubeconfig(): string {
  const path = process.env.REEVE_KUBECONFIG
  if (!path) throw new Error('REEVE_KUBECONFIG is not set; run the suite with npm run test:real')
  return path
}

async function embeddedKubeconfig(stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'reeve-kube-test-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const cluster = stack.use(await startEmbeddedCluster())
  const path = join(directory, 'kubeconfig')
  await cluster.writeKubeconfig(path)
  return path
}
