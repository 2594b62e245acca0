/** The operator as its chart installs it: with the arguments of its Deployment and the rights of its ServiceAccount. */
import { request } from 'node:https'
import { openOperatorConsole } from '@reeve/cli/operator-console'
import { accountToken, type ClusterUnderTest, redirectWebhooks } from '@reeve/cluster-under-test'
import { sleep } from '@reeve/http'
import { createClient, Deployments, type DiscoveringClient, loadConfig } from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import { clientMetrics, createMetricsRegistry } from '@reeve/runtime/metrics'
import manifest from '../../package.json' with { type: 'json' }
import { createWebAppOperator, WebApps } from '../../src/index.ts'

/** A response. */
export interface Reply {
  readonly status: number | undefined
  readonly body: string
}

/** An operator that runs in this process. */
export interface InstalledOperator extends AsyncDisposable {
  /** Requests that the API server refused with 403. */
  readonly refusals: readonly string[]
  /** Gets `/metrics` with the token of an account. */
  scrape(token: string): Promise<Reply>
  /** Gets the overview of the console with a token. */
  openConsole(token: string): Promise<Reply>
}

/** Polls until the condition holds; fails after a minute. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(60_000)
  while (!(await condition())) await sleep(50, { signal: deadline })
}

/**
 * Runs the operator that is installed under this name, as a node would run its pod. No network leads to the Service here,
 * so its webhook configurations are changed to the address of this process.
 */
export async function startInstalled(
  cluster: ClusterUnderTest,
  admin: DiscoveringClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<InstalledOperator> {
  const { spec } = await admin.get(Deployments, { namespace, name })
  const args = spec?.template.spec?.containers[0]?.args ?? []
  const valuesOf = (flag: string) =>
    args.filter((arg) => arg.startsWith(`${flag}=`)).map((arg) => arg.slice(flag.length + 1))
  const [secret = ''] = valuesOf('--webhook-secret')
  const [configuration = ''] = valuesOf('--webhook-configuration')
  const watched = valuesOf('--watch-namespace')
  const hasWebhooks = args.includes('--webhook')

  const token = await accountToken(cluster, namespace, name)
  const credentials = { get: async () => ({ authorization: `Bearer ${token}` }), renew: async () => undefined }
  const config = { ...(await loadConfig({ kubeconfig: cluster.kubeconfigPath })), credentials }
  const metrics = await createMetricsRegistry({ processMetrics: true })
  const counted = clientMetrics(metrics, new URL(config.server).host)
  const refusals: string[] = []
  const client = createClient({
    config,
    fieldManager: 'webapp-operator',
    onRequest: (report) => {
      counted(report)
      if (report.status === 403) refusals.push(`${report.verb} ${report.resource}`)
    },
  })
  const link = Promise.withResolvers<string>()
  const opened = await openOperatorConsole(
    { console: args.includes('--console'), consoleHost: '127.0.0.1', consolePort: 0 },
    {
      env: { KUBERNETES_SERVICE_HOST: '127.0.0.1' },
      stderr: { write: (line) => link.resolve(line) },
    },
    silentLogger,
  )
  const operator = createWebAppOperator({
    client,
    metrics,
    observer: opened?.observer,
    ...(watched.length > 0 && { namespaces: watched }),
    leaderElection: { lease: { namespace, name: 'webapp-operator' }, identity: 'installed' },
    metricsAddress: { host: '127.0.0.1', port: 0, isProtected: args.includes('--protect-metrics') },
    upgradeCrds: args.includes('--upgrade-crds') ? { version: manifest.version } : undefined,
    ...(hasWebhooks && {
      webhook: {
        address: { host: '127.0.0.1', port: 0 },
        certificate: { secret: { namespace, name: secret }, hosts: ['127.0.0.1'] },
        inject: { mutating: [configuration], validating: [configuration] },
      },
    }),
  })
  // A real API server learns of rights a moment after they are granted.
  await until(() =>
    Promise.all([
      client.list(WebApps, watched[0] === undefined ? {} : { namespace: watched[0] }),
      ...(hasWebhooks
        ? [
            client.raw({ method: 'GET', path: `/api/v1/namespaces/${namespace}/secrets/${secret}` }),
            client.raw({ method: 'GET', path: `${WEBHOOKS}/mutatingwebhookconfigurations/${configuration}` }),
          ]
        : []),
    ]).then(
      () => true,
      () => false,
    ),
  )
  refusals.length = 0

  const stop = new AbortController()
  const running = operator.manager.run(stop.signal)
  running.catch(() => undefined)
  const kinds = hasWebhooks ? ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] : []
  const configurations = kinds.map((kind) => `${WEBHOOKS}/${kind}/${configuration}`)
  if (hasWebhooks) {
    const { port } = (await operator.webhooks?.server.address()) ?? {}
    await redirectWebhooks(cluster, configuration, { origin: `https://127.0.0.1:${port}` })
    await operator.webhooks?.certificates?.check(AbortSignal.timeout(30_000))
  }
  return {
    refusals,
    async scrape(bearer) {
      const address = await operator.manager.metricsServer?.address()
      return get(address?.port ?? 0, '/metrics', bearer)
    },
    async openConsole(bearer) {
      const [, consolePort] = /^console: https:\/\/127\.0\.0\.1:(\d+)\//.exec(await link.promise) ?? []
      return get(Number(consolePort), '/api/overview', bearer)
    },
    async [Symbol.asyncDispose]() {
      // With nobody behind them they would reject every WebApp. An uninstall may have deleted them.
      for (const path of configurations) await cluster.raw.send({ method: 'DELETE', path })
      stop.abort()
      await running
      await client.close()
    },
  }
}

const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1'

/** The certificate is self-signed. */
function get(port: number, path: string, token: string): Promise<Reply> {
  const headers = { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, headers }, async (response) => {
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      resolve({ status: response.statusCode, body })
    })
      .on('error', reject)
      .end()
  })
}
