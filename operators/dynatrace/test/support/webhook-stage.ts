/** A cluster with both CRDs, the webhook server and its certificates: everything over TLS, as the chart installs it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { type Clock, systemClock } from '@reeve/http'
import {
  connect,
  type Deployment,
  Deployments,
  isNotFound,
  type KubeClient,
  type KubeObject,
  MutatingWebhookConfigurations,
  type Resource,
  Services,
  type Stored,
  type ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import { ALL_MODULES } from '../../src/api/validation/modules.ts'
import { createWebhookServer, ensureCertificates, validatingConfiguration, WEBHOOK_NAME } from '../../src/index.ts'
import { installConvertedCrds } from './install-crds.ts'
import { until } from './until.ts'
import { webhookDeployment } from './webhook-deployment.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PATIENCE_MS = 120_000

/** A real API server learns of another authority a moment after it is written. */
const TIMING = { embedded: { recheckMs: 100, settleMs: 200 }, real: { recheckMs: 500, settleMs: 2_000 } }

/** What tests play on. */
export interface WebhookStage {
  readonly cluster: ClusterUnderTest
  readonly client: KubeClient
  /** The operator's namespace. */
  readonly namespace: string
  /** Of the webhook server, the same after a restart. */
  readonly port: number
  /** Where the server's certificate files are. */
  readonly directory: string
  /** One pass of the certificates controller, as if it were `offsetMs` later. */
  renew(offsetMs?: number): Promise<void>
  stopWebhooks(): Promise<void>
  startWebhooks(): Promise<void>
  /** Makes the API server call the validating webhooks, or no longer. */
  register(): Promise<void>
  unregister(): Promise<void>
  until(condition: () => Promise<boolean>): Promise<void>
  close(): Promise<void>
}

/**
 * Sets the stage. The authority is made as if eleven hours before its renewal falls due, so that `renew()` replaces it.
 *
 * The API server reaches the webhooks through their Service, under its name: on a real cluster it is one that points to
 * this machine, on an embedded one services of this name are resolved here.
 */
export async function setWebhookStage(): Promise<WebhookStage> {
  const cluster = await openCluster({
    embedded: { authorization: 'RBAC', resolveService: (_, __, port) => ({ host: '127.0.0.1', port }) },
  })
  const client = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'test' })
  const namespace = await cluster.createNamespace()
  const directory = await mkdtemp(join(tmpdir(), 'reeve-webhook-'))
  const deployment = await client.create(Deployments, webhookDeployment(namespace, 0))
  await client.create(Services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: WEBHOOK_NAME },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  let stop = new AbortController()
  let running = Promise.resolve()
  let port = 0

  const startWebhooks = async () => {
    stop = new AbortController()
    const { manager, server } = createWebhookServer({
      client,
      namespace,
      modules: ALL_MODULES,
      injection: { image: 'registry.example.com/operator:1', isOpenShift: false, isManagedByOlm: false },
      // Both families: the name localhost may mean either.
      address: { host: '::', port },
      certificates: {
        areProvided: false,
        files: { directory, certificate: 'tls.crt', privateKey: 'tls.key' },
        timing: TIMING[cluster.kind],
      },
    })
    running = manager.run(stop.signal)
    // A failure shows where the server is waited for.
    running.catch(() => undefined)
    port = (await server.address()).port
  }
  const stopWebhooks = async () => {
    stop.abort()
    await running
  }
  const renew = (offsetMs = 0) =>
    renewCertificates(client, deployment, { ...systemClock, now: () => Date.now() + offsetMs })

  // The CRD has to exist, and the conversion webhook's port is known once the server listens, which needs a
  // certificate.
  await installConvertedCrds(client, (path) => ({ service: { namespace, name: WEBHOOK_NAME, path, port: 443 } }))
  await renew(-(365 * DAY_MS - 2 * HOUR_MS))
  await renew(-11 * HOUR_MS)
  await startWebhooks()
  const clientConfig = (path: string) => ({ service: { namespace, name: WEBHOOK_NAME, path, port } })
  await installConvertedCrds(client, clientConfig)
  await renew(-11 * HOUR_MS)

  const stage: WebhookStage = {
    cluster,
    client,
    namespace,
    directory,
    get port() {
      return port
    },
    renew,
    stopWebhooks,
    startWebhooks,
    until: (condition) => until('what the test expects', condition),
    async register() {
      await client.apply(ValidatingWebhookConfigurations, ownNamespaceOnly(clientConfig, namespace), { force: true })
      await renew(-11 * HOUR_MS)
    },
    unregister: () => remove(client, ValidatingWebhookConfigurations, WEBHOOK_NAME),
    async close() {
      await stage.unregister()
      await remove(client, MutatingWebhookConfigurations, WEBHOOK_NAME)
      await stopWebhooks()
      await client.close()
      await cluster.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return stage
}

async function renewCertificates(client: KubeClient, deployment: Stored<Deployment>, clock: Clock): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  await ensureCertificates(deployment, { client, clock, logger: silentLogger, signal })
}

/** The webhooks for DynaKubes and EdgeConnects of one namespace: in others, other suites run. */
function ownNamespaceOnly(
  clientConfigFor: Parameters<typeof validatingConfiguration>[0],
  namespace: string,
): ValidatingWebhookConfiguration {
  const configuration = validatingConfiguration(clientConfigFor)
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
  return {
    ...configuration,
    webhooks: (configuration.webhooks ?? []).map((webhook) => ({ ...webhook, namespaceSelector })),
  }
}

async function remove<T extends KubeObject>(client: KubeClient, resource: Resource<T>, name: string): Promise<void> {
  try {
    await client.delete(resource, { name })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
