/** The operator as its chart installs it: with the settings and arguments of the release, and the rights of its account. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountToken, type ClusterUnderTest, redirectWebhooks, runManager } from '@reeve/cluster-under-test'
import { ChartStore, findHelm, openHelm } from '@reeve/helm'
import { sleep } from '@reeve/http'
import { ConfigMaps, connect, createClient, Deployments, loadConfig } from '@reeve/kube'
import manifest from '../../package.json' with { type: 'json' }
import { Collectors, createCollectorOperator, parseSettings } from '../../src/index.ts'
import { helmPath } from './stage.ts'

/** An operator that runs in this process. Disposing stops it. */
export interface InstalledOperator extends AsyncDisposable {
  /** Requests that the API server refused with 403. */
  readonly refusals: readonly string[]
}

/** Runs the operator that is installed under this name, as a node would run its pod. */
export async function startInstalled(
  cluster: ClusterUnderTest,
  release: { readonly namespace: string; readonly name: string },
): Promise<InstalledOperator> {
  const { namespace, name } = release
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'reeve-installed-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  const { args, settings } = await readRelease(cluster, release)
  const argument = (flag: string) => args.find((arg) => arg.startsWith(`${flag}=`))?.slice(flag.length + 1) ?? ''
  const token = await accountToken(cluster, namespace, name)
  const credentials = { get: async () => ({ authorization: `Bearer ${token}` }), renew: async () => undefined }
  const config = { ...(await loadConfig({ kubeconfig: cluster.kubeconfigPath })), credentials }
  const refusals: string[] = []
  const client = createClient({
    config,
    fieldManager: 'collector-operator',
    onRequest: ({ status, verb, resource }) => {
      if (status === 403) refusals.push(`${verb} ${resource}`)
    },
  })
  started.defer(() => client.close())
  const watched = argument('--namespace') === '' ? {} : { namespace: argument('--namespace') }
  // A real API server learns of rights a moment after they are granted.
  const deadline = AbortSignal.timeout(60_000)
  while (
    !(await client.list(Collectors, watched).then(
      () => true,
      () => false,
    ))
  )
    await sleep(50, { signal: deadline })
  refusals.length = 0
  const helm = started.use(await openHelm(await findHelm({ env: { HELM_BIN: helmPath } }), config))
  const configuration = argument('--webhook-configuration')
  const { manager, webhooks } = createCollectorOperator({
    client,
    helm,
    charts: new ChartStore(join(folder, 'charts'), { env: {} }),
    settings: parseSettings(settings),
    operatorNamespace: namespace,
    ...watched,
    // As the operator reads its own namespace from the pod.
    adminNamespaces: (argument('--admin-namespaces') || namespace).split(','),
    leaderElection: { lease: { namespace, name: 'collector-operator' }, identity: 'installed' },
    upgradeCrds: args.includes('--upgrade-crds') ? { version: manifest.version } : undefined,
    ...(args.includes('--webhook') && {
      webhook: {
        address: { host: '127.0.0.1', port: 0 },
        certificate: { secret: { namespace, name: argument('--webhook-secret') }, hosts: ['127.0.0.1'] },
        inject: { validating: [configuration] },
      },
    }),
  })
  runManager(manager, started)
  if (webhooks !== undefined) {
    const { port } = (await webhooks.server.address()) ?? {}
    await redirectWebhooks(cluster, configuration, { origin: `https://127.0.0.1:${port}` })
    await webhooks.certificates?.check(AbortSignal.timeout(30_000))
  }
  const kept = started.move()
  return { refusals, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function readRelease(
  cluster: ClusterUnderTest,
  release: { readonly namespace: string; readonly name: string },
): Promise<{ readonly args: readonly string[]; readonly settings: string }> {
  const admin = await connect({ kubeconfig: cluster.kubeconfigPath })
  try {
    const { spec } = await admin.get(Deployments, release)
    const { data } = await admin.get(ConfigMaps, release)
    return { args: spec?.template.spec?.containers[0]?.args ?? [], settings: data?.['settings.yaml'] ?? '' }
  } finally {
    await admin.close()
  }
}
