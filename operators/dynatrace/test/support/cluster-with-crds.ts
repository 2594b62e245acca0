/** A cluster in process with both CRDs, whose conversion webhook answers in process too. */
import type { CrdManifest } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  Namespaces,
  type TransportRequest,
} from '@reeve/kube'
import { convertRoute, crdManifests } from '../../src/index.ts'

/** See {@link clusterWithCrds}. */
export interface ClusterWithCrds {
  readonly client: KubeClient
  /** A GET of any path, as JSON. */
  get(path: string, accept?: string): Promise<{ readonly status: number; readonly body: unknown }>
  stop(): Promise<void>
}

/** Starts the cluster, with the namespace `dynatrace`. */
export async function clusterWithCrds(): Promise<ClusterWithCrds> {
  const route = convertRoute()
  const cluster = await startEmbeddedCluster({
    listen: false,
    controllers: false,
    callWebhook: ({ url, review, signal }) =>
      new URL(url).pathname === route.path ? route.answer(review, signal) : undefined,
  })
  const transport = { send: (request: TransportRequest) => cluster.handle(request), close: () => cluster.stop() }
  const client = createClient({ transport })
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dynatrace' } })
  for (const manifest of crdManifests()) await client.create(CustomResourceDefinitions, asDefinition(manifest))
  return {
    client,
    async get(path, accept = 'application/json') {
      const response = await cluster.handle({ method: 'GET', path, headers: { accept } })
      let text = ''
      for await (const chunk of response.body) text += Buffer.from(chunk).toString()
      return { status: response.status, body: JSON.parse(text) }
    },
    stop: () => client.close(),
  }
}

/** The manifest of `@reeve/crd` keeps its spec open; the cluster checks it. */
function asDefinition(manifest: CrdManifest): CustomResourceDefinition {
  return manifest as unknown as CustomResourceDefinition
}
