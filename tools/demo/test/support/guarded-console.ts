/** A console as in a cluster: TLS, and accounts that the API server authenticates and authorizes. */
import { openConsole } from '@reeve/console'
import { crdManifest } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { type Clock, systemClock } from '@reeve/http'
import {
  ClusterRoleBindings,
  ClusterRoles,
  CustomResourceDefinitions,
  createClient,
  ServiceAccounts,
} from '@reeve/kube'
import { WebAppCrd } from '@reeve/webapp'
import { idleOperator } from './crowd.ts'

const API_GROUP = 'rbac.authorization.k8s.io'
const NAMESPACE = 'default'

/** The console, and the accounts that know it. */
export interface GuardedConsole extends AsyncDisposable {
  readonly link: string
  /** A token of an account, for an hour. */
  tokenOf(account: 'viewer' | 'stranger'): Promise<string>
  /** Lets time pass for cluster and console, but not for the browser. */
  passHours(hours: number): void
}

/** Opens it. The account `viewer` may open the console, the account `stranger` may not. */
export async function openGuardedConsole(): Promise<GuardedConsole> {
  let aheadMs = 0
  const clock: Clock = {
    now: () => systemClock.now() + aheadMs,
    schedule: (delayMs, callback) => systemClock.schedule(delayMs, callback),
  }
  const cluster = await startEmbeddedCluster({ listen: false, controllers: false, clock })
  const client = createClient({ transport: cluster.transport })
  await client.create(CustomResourceDefinitions, crdManifest(WebAppCrd))
  for (const name of ['viewer', 'stranger']) {
    await client.create(ServiceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: NAMESPACE, name },
    })
  }
  const metadata = { name: 'console-reader' }
  const rules = [{ nonResourceURLs: ['/console'], verbs: ['get'] }]
  await client.create(ClusterRoles, { apiVersion: `${API_GROUP}/v1`, kind: 'ClusterRole', metadata, rules })
  await client.create(ClusterRoleBindings, {
    apiVersion: `${API_GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: API_GROUP, kind: 'ClusterRole', name: 'console-reader' },
    subjects: [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: 'viewer' }],
  })
  const ready = Promise.withResolvers<string>()
  const { observer } = await openConsole({ isProtected: true, clock, onReady: ready.resolve })
  const { manager } = idleOperator.create({ client, observer })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  return {
    link: await ready.promise,
    async tokenOf(account) {
      const { status } = await client.raw<{ status: { token: string } }>({
        method: 'POST',
        path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${account}/token`,
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } },
      })
      return status.token
    },
    passHours: (hours) => {
      aheadMs += hours * 3_600_000
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await cluster.stop()
    },
  }
}
