/** A cluster in process with both CRDs, whose conversion webhook responds in process too. */
import type { CrdManifest } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  Namespaces,
} from '@reeve/kube'
import { convertRoute, crdManifests } from '../../src/index.ts'

/** See {@link clusterWithCrds}. */
export interface ClusterWithCrds {
  readonly client: KubeClient
  /** A GET of any path, as JSON. */
  get(path: string, accept?: string): Promise<{ readonly status: number; readonly body: unknown }>
  /** What the server says about creating an object, which it does not. */
  dryRun(path: string, object: object): Promise<DryRun>
  stop(): Promise<void>
}

/** The response to a request that changes nothing. */
export interface DryRun {
  readonly status: number
  readonly message: string
  /** Named in the warnings of the response. */
  readonly unknownFields: readonly string[]
}

/** Starts the cluster, with the namespace `dynatrace`. */
export async function clusterWithCrds(): Promise<ClusterWithCrds> {
  const route = convertRoute()
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    controllers: false,
    callWebhook: ({ url, review, signal }) =>
      new URL(url).pathname === route.path ? route.respond(review, signal) : undefined,
  })
  const client = createClient({ transport: cluster.transport })
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
    async dryRun(path, object) {
      const response = await cluster.handle({
        method: 'POST',
        path: `${path}?dryRun=All&fieldValidation=Warn`,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: Buffer.from(JSON.stringify(object)),
      })
      let text = ''
      for await (const chunk of response.body) text += Buffer.from(chunk).toString()
      const { message = '' } = JSON.parse(text) as { readonly message?: string }
      const warnings = [response.headers.warning ?? []].flat().join(' ')
      return { status: response.status, message, unknownFields: unknownFieldsIn(warnings) }
    },
    stop: () => cluster.stop(),
  }
}

/** The manifest of `@reeve/crd` keeps its spec open; the cluster checks it. */
function asDefinition(manifest: CrdManifest): CustomResourceDefinition {
  return manifest as unknown as CustomResourceDefinition
}

/** From `299 - "unknown field \"spec.colour\""`, with anything else. */
function unknownFieldsIn(warnings: string): readonly string[] {
  return [...warnings.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].flatMap(([, quoted = '']) => {
    const [, field] = /^unknown field "(.*)"$/s.exec(quoted.replaceAll(/\\(.)/gs, '$1')) ?? []
    return field === undefined ? [] : [field]
  })
}
