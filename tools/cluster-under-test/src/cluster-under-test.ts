/**
 * The cluster that a suite runs on: its own embedded cluster by default, or the control plane in `REEVE_KUBECONFIG`
 * when `REEVE_TEST_CLUSTER=real`. A suite must not expect less of one than of the other.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddedClusterOptions } from '@reeve/embedded-cluster'
import { type Connection, connectionOf, RawClient } from './raw-client.ts'

/** A cluster to test on. */
export interface ClusterUnderTest extends AsyncDisposable {
  readonly kind: 'embedded' | 'real'
  readonly connection: Connection
  /** For kubectl and helm. */
  readonly kubeconfigPath: string
  /** Plain HTTP as the administrator. */
  readonly raw: RawClient
  /** Creates a namespace that no other test uses; it is deleted when the suite ends. */
  createNamespace(): Promise<string>
  /** Deletes the object at this path when the suite ends. For cluster-scoped objects, which other suites would see. */
  removeAtClose(path: string): void
  /**
   * Discards the storage history: reads and watches from earlier versions get 410. A real API server keeps serving what
   * its watch cache holds a while longer, which is everything except events.
   */
  compact(): Promise<void>
  close(): Promise<void>
}

/** Options of {@link openCluster}. */
export interface OpenOptions {
  /** Options for the embedded cluster; ignored for the real one. */
  readonly embedded?: EmbeddedClusterOptions
  /**
   * A control plane that no other suite uses, for tests that install objects with fixed names. An embedded cluster always
   * is one; a real one takes seconds to start. @default false
   */
  readonly isExclusive?: boolean
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
  if (process.env.REEVE_TEST_CLUSTER !== 'real') return openEmbedded(options.embedded)
  return options.isExclusive ? openExclusive() : openReal()
}

async function openReal(): Promise<ClusterUnderTest> {
  const kubeconfigPath = process.env.REEVE_KUBECONFIG
  if (kubeconfigPath === undefined) {
    throw new Error('REEVE_KUBECONFIG is not set: run this suite with `npm run test:real`')
  }
  return assemble('real', kubeconfigPath, { compact: compactEtcd, dispose: async () => undefined })
}

/** A control plane of its own, with the nodes that the shared one has. */
async function openExclusive(): Promise<ClusterUnderTest> {
  const { startRealCluster, startSimulatedNodes } = await import('@reeve/real-cluster')
  const cluster = await startRealCluster()
  const nodes = await startSimulatedNodes(cluster, { nodes: ['node-1', 'node-2', 'node-3'].map((name) => ({ name })) })
  return assemble('real', cluster.kubeconfigPath, {
    compact: () => Promise.reject(new Error('only the shared cluster can be compacted')),
    async dispose() {
      await nodes.stop()
      await cluster.stop()
    },
  })
}

async function openEmbedded(options: EmbeddedClusterOptions = {}): Promise<ClusterUnderTest> {
  // Imported lazily: a suite on a real cluster does not need it.
  const { startEmbeddedCluster } = await import('@reeve/embedded-cluster')
  const folder = await mkdtemp(join(tmpdir(), 'reeve-cluster-'))
  // As on the real one, requests without credentials are those of system:anonymous.
  const cluster = await startEmbeddedCluster({ anonymousAuth: true, nodes: 3, ...options })
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

/** Operations that are not available through the API. */
interface ClusterProcess {
  compact(): Promise<void>
  dispose(): Promise<void>
}

async function assemble(
  kind: ClusterUnderTest['kind'],
  kubeconfigPath: string,
  { compact, dispose }: ClusterProcess,
): Promise<ClusterUnderTest> {
  const connection = connectionOf(await readFile(kubeconfigPath, 'utf8'))
  const raw = new RawClient(connection)
  const leftovers: string[] = []
  const close = async () => {
    // The embedded cluster is discarded as a whole.
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

/** Compacts the etcd that `REEVE_ETCD_KUBECONFIG` names, up to its current revision. */
async function compactEtcd(): Promise<void> {
  const path = process.env.REEVE_ETCD_KUBECONFIG
  if (path === undefined) throw new Error('REEVE_ETCD_KUBECONFIG is not set: run this suite with `npm run test:real`')
  const etcd = new RawClient(connectionOf(await readFile(path, 'utf8')))
  try {
    const { header } = await post<{ header: { revision: string } }>(etcd, '/v3/maintenance/status', {})
    await post(etcd, '/v3/kv/compaction', { revision: header.revision, physical: true })
  } finally {
    await etcd.close()
  }
}

async function post<T>(etcd: RawClient, path: string, body: unknown): Promise<T> {
  const { status, text, json } = await etcd.send({ method: 'POST', path, body })
  if (status !== 200) throw new Error(`etcd ${path}: ${status} ${text}`)
  return json<T>()
}
