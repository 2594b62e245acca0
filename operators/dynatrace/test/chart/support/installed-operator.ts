/** The operator and its webhooks as the chart installs them, with the rights of their accounts, in this process. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  accountToken,
  type ClusterUnderTest,
  redirectConversion,
  redirectWebhooks,
  runManager,
} from '@reeve/cluster-under-test'
import { sleep } from '@reeve/http'
import { createClient, type KubeClient, loadConfig } from '@reeve/kube'
import { issueAuthority, issueServing } from '@reeve/runtime/certificates'
import { fixedCertificate } from '../../../exploration/dynatrace-under-test.ts'
import {
  CRDS,
  clusterIdOf,
  createDynatraceOperator,
  createWebhookServer,
  DynaKubes,
  parseModules,
  WEBHOOK_NAME,
} from '../../../src/index.ts'

const HOST = '127.0.0.1'
const OPERATOR = 'dynatrace-operator'
const IMAGE = 'registry.example.com/dynatrace-operator:v0.1.0'

/** A release that runs. Disposing stops it. */
export interface InstalledOperator extends AsyncDisposable {
  /** Requests that the API server refused with 403. */
  readonly refusals: readonly string[]
}

/**
 * Runs what the nodes would run. The webhooks have a certificate for the address of this machine, because no network
 * leads to their Service here.
 */
export async function startInstalled(cluster: ClusterUnderTest, namespace: string): Promise<InstalledOperator> {
  await using started = new AsyncDisposableStack()
  const refusals: string[] = []
  const webhook = await connectAs(cluster, namespace, WEBHOOK_NAME, refusals)
  started.defer(() => webhook.close())
  await startWebhooks(cluster, webhook, namespace, started)
  const client = await connectAs(cluster, namespace, OPERATOR, refusals)
  started.defer(() => client.close())
  const { manager } = createDynatraceOperator({
    client,
    namespace,
    clusterId: await clusterIdOf(client),
    operator: { version: '0.1.0', image: IMAGE, hasCsiDriver: true },
    detectsHostAvailability: true,
    // They would be for the Service.
    issuesCertificates: false,
    // Keys take seconds, and nothing here uses them.
    selfSigned: fixedCertificate,
    leaderElection: { lease: { namespace, name: 'dynatrace-operator-lock' }, identity: 'installed' },
  })
  runManager(manager, started)
  const kept = started.move()
  return { refusals, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function connectAs(
  cluster: ClusterUnderTest,
  namespace: string,
  account: string,
  refusals: string[],
): Promise<KubeClient> {
  const token = await accountToken(cluster, namespace, account)
  const credentials = { get: async () => ({ authorization: `Bearer ${token}` }), renew: async () => undefined }
  const client = createClient({
    config: { ...(await loadConfig({ kubeconfig: cluster.kubeconfigPath })), credentials },
    fieldManager: account,
    onRequest: ({ status, verb, resource }) => {
      if (status === 403) refusals.push(`${account}: ${verb} ${resource}`)
    },
  })
  // A real API server learns of rights a moment after they are granted.
  const deadline = AbortSignal.timeout(60_000)
  const isGranted = () =>
    client.list(DynaKubes, { namespace }).then(
      () => true,
      () => false,
    )
  while (!(await isGranted())) await sleep(50, { signal: deadline })
  refusals.length = 0
  return client
}

async function startWebhooks(
  cluster: ClusterUnderTest,
  client: KubeClient,
  namespace: string,
  started: AsyncDisposableStack,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'reeve-webhooks-'))
  started.defer(() => rm(directory, { recursive: true, force: true }))
  const validity = { nowMs: Date.now(), validityMs: 3_600_000 }
  const authority = await issueAuthority('installed', validity)
  const { certificate, privateKey } = await issueServing(authority, [HOST], validity)
  await writeFile(join(directory, 'tls.crt'), certificate)
  await writeFile(join(directory, 'tls.key'), privateKey, { mode: 0o600 })
  const { manager, server } = createWebhookServer({
    client,
    namespace,
    modules: parseModules(undefined),
    injection: { image: IMAGE, isOpenShift: false, isManagedByOlm: false },
    address: { host: HOST, port: 0 },
    certificates: { areProvided: true, files: { directory, certificate: 'tls.crt', privateKey: 'tls.key' } },
  })
  runManager(manager, started)
  const { port } = await server.address()
  const address = { origin: `https://${HOST}:${port}`, authority: authority.certificate }
  for (const { name } of CRDS) await redirectConversion(cluster, name, address)
  await redirectWebhooks(cluster, WEBHOOK_NAME, address)
}
