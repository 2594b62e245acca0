/**
 * The cluster that a suite runs on: an embedded one of its own by default; with `REEVE_TEST_CLUSTER=real`, the control
 * plane that `REEVE_KUBECONFIG` names. A suite never asks which one it got to expect less of it.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddedClusterOptions } from '@reeve/embedded-cluster'
import { compactEtcd } from './compact-etcd.ts'
import { connectionOf } from './connection.ts'
import { type Connection, RawClient } from './raw-client.ts'

/** A cluster to test on. */
export interface ClusterUnderTest extends AsyncDisposable {
  readonly kind: 'embedded' | 'real'
  readonly connection: Connection
  /** For kubectl and helm. */
  readonly kubeconfigPath: string
  /** Plain HTTP as the administrator. */
  readonly raw: RawClient
  /** Creates a namespace that no other test uses; it goes when the suite ends. */
  createNamespace(): Promise<string>
  /** Has the object at this path deleted when the suite ends. For what is in no namespace: other suites meet it. */
  removeAtClose(path: string): void
  /**
   * Makes the storage forget its history: what reads or watches it from before now is answered with 410. A real API
   * server remembers a while longer what its watch cache holds, which is everything but events.
   */
  compact(): Promise<void>
  close(): Promise<void>
}

/** Options of {@link openCluster}. */
export interface OpenOptions {
  /** How the embedded cluster is set up; the real one is as it is. */
  readonly embedded?: EmbeddedClusterOptions
}

/**
 * Opens the cluster of this test run.
 *
 * @example
 * let cluster: ClusterUnderTest
 * beforeAll(async () => { cluster = await openCluster() })
 * afterAll(() => cluster.close())
 */
export async function openCluster(options: OpenOptions = {}): Promise<ClusterUnderTest> {
  return process.env.REEVE_TEST_CLUSTER === 'real' ? openReal() : openEmbedded(options.embedded)
}

async function openReal(): Promise<ClusterUnderTest> {
  const kubeconfigPath = process.env.REEVE_KUBECONFIG
  if (kubeconfigPath === undefined) {
    throw new Error('REEVE_KUBECONFIG is not set: run this suite with `npm run test:real`')
  }
  return assemble('real', kubeconfigPath, { compact: compactEtcd, dispose: async () => undefined })
}

async function openEmbedded(options: EmbeddedClusterOptions = {}): Promise<ClusterUnderTest> {
  // Loaded only now: a suite on a real cluster has no need of it.
  const { startEmbeddedCluster } = await import('@reeve/embedded-cluster')
  const folder = await mkdtemp(join(tmpdir(), 'reeve-cluster-'))
  const cluster = await startEmbeddedCluster({ authorization: 'RBAC', nodes: 3, ...options })
  const kubeconfigPath = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfigPath)
  return assemble('embedded', kubeconfigPath, {
    compact: async () => cluster.compact(),
    async dispose() {
      await cluster.stop()
      await rm(folder, { recursive: true, force: true })
    },
  })
}

/** What only the process behind the API can do. */
interface Backstage {
  compact(): Promise<void>
  dispose(): Promise<void>
}

async function assemble(
  kind: ClusterUnderTest['kind'],
  kubeconfigPath: string,
  { compact, dispose }: Backstage,
): Promise<ClusterUnderTest> {
  const connection = connectionOf(await readFile(kubeconfigPath, 'utf8'))
  const raw = new RawClient(connection)
  const leftovers: string[] = []
  const close = async () => {
    // The embedded cluster goes as a whole.
    const removed = kind === 'real' ? leftovers : []
    await Promise.all(removed.map((path) => raw.send({ method: 'DELETE', path })))
    await raw.close()
    await dispose()
  }
  return {
    kind,
    connection,
    kubeconfigPath,
    raw,
    async createNamespace() {
      const name = `test-${randomBytes(4).toString('hex')}`
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
      const { status, text } = await raw.send({ method: 'POST', path: '/api/v1/namespaces', body })
      if (status !== 201) throw new Error(`namespace ${name} was not created: ${text}`)
      leftovers.push(`/api/v1/namespaces/${name}`)
      return name
    },
    removeAtClose: (path) => leftovers.push(path),
    compact,
    close,
    [Symbol.asyncDispose]: close,
  }
}
