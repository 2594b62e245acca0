/**
 * The stage of the Dynatrace benchmarks: an API server without controllers, a tenant, and DynaKubes with every feature.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { crdManifests, type DynaKube, DynaKubes, EdgeConnects } from '@reeve/dynatrace'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  connect,
  type DiscoveringClient,
  type KubeClient,
  Namespaces,
  Secrets,
} from '@reeve/kube'
import { type BenchCluster, type ClusterKind, startBenchCluster } from './bench-cluster.ts'
import type { BenchTenant, BenchTenantsReady } from './dynatrace-tenant.ts'

const TENANTS = fileURLToPath(new URL('./dynatrace-tenant.ts', import.meta.url))

/** The namespace of the operator. */
export const NAMESPACE = 'measured'

/** The namespace of writes that are repeated without it. As long as the other one, so that they keep their size. */
export const BARE_NAMESPACE = 'repeated'

/** How long a new CRD may take until it is served. */
const SERVED_DEADLINE_MS = 60_000
const SERVED_POLL_MS = 100

/** The ConfigMap with the authority of the tenant. */
const TRUST = 'tenant'

/** A server with CRDs, tokens and trust. */
export interface DynatraceStage extends AsyncDisposable {
  readonly cluster: BenchCluster
  readonly client: KubeClient
  readonly tenants: readonly BenchTenant[]
}

/** Starts everything; a tenant for each id. */
export async function startDynatraceStage(kind: ClusterKind, ids: readonly string[]): Promise<DynatraceStage> {
  const child = fork(TENANTS, [...ids], { execArgv: [] })
  const { tenants, certificate } = await ready(child)
  const cluster = await startBenchCluster(kind)
  const client = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'bench' })
  for (const name of [NAMESPACE, BARE_NAMESPACE]) {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  for (const manifest of crdManifests()) {
    // The manifest keeps its spec open; the server checks it.
    await client.apply(CustomResourceDefinitions, manifest as unknown as CustomResourceDefinition)
  }
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name: TRUST },
    data: { certs: certificate },
  })
  for (const { id, apiToken, dataIngestToken } of tenants) {
    const data = { apiToken: base64(apiToken), dataIngestToken: base64(dataIngestToken) }
    const metadata = { namespace: NAMESPACE, name: `${id}-tokens` }
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data })
  }
  await untilServed(client)
  return {
    cluster,
    client,
    tenants,
    async [Symbol.asyncDispose]() {
      await client.close()
      await cluster[Symbol.asyncDispose]()
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** A DynaKube with everything; of several in a namespace only one can have telemetry ingest. */
export function fullDynaKube(
  tenant: BenchTenant,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  hasTelemetryIngest: boolean,
): DynaKube {
  const namespaceSelector = { matchLabels: { team: name } }
  return {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace, name },
    spec: {
      apiUrl: tenant.apiUrl,
      tokens: `${tenant.id}-tokens`,
      trustedCAs: TRUST,
      oneAgent: { cloudNativeFullStack: { namespaceSelector } },
      metadataEnrichment: { enabled: true, namespaceSelector },
      activeGate: { capabilities: ['routing', 'kubernetes-monitoring'] },
      extensions: { prometheus: {}, databases: [{ id: 'oracle' }] },
      kspm: { mappedHostPaths: ['/etc'] },
      logMonitoring: {},
      ...(hasTelemetryIngest && { telemetryIngest: {} }),
      templates: {
        otelCollector: { imageRef: image('otelc') },
        extensionExecutionController: { imageRef: image('eec') },
        sqlExtensionExecutor: { imageRef: image('sql') },
        kspmNodeConfigurationCollector: { imageRef: image('ncc') },
      },
    },
  }
}

const image = (name: string) => ({ repository: `registry.example.com/${name}`, tag: '1.2.3' })

const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function ready(child: ChildProcess): Promise<BenchTenantsReady> {
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the tenant ended with ${code}`)))
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [BenchTenantsReady] // its only message
  return message
}

/** A kind can be listed before it is in the discovery document, which operators read when they start. */
async function untilServed(client: DiscoveringClient): Promise<void> {
  const deadline = performance.now() + SERVED_DEADLINE_MS
  for (;;) {
    try {
      for (const { group, version, kind } of [DynaKubes, EdgeConnects]) {
        await client.resourceFor({ apiVersion: `${group}/${version}`, kind })
      }
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(SERVED_POLL_MS)
      client.discovery.invalidate()
    }
  }
}
