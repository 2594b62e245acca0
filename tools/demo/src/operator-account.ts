/** Makes an operator of the demo act as the ServiceAccount of its chart, with the rights that the chart gives it. */
import { findClientBinary } from '@reeve/client-binaries'
import type { CredentialSource, Credentials } from '@reeve/http'
import { createClient, type KubeClient, loadConfig } from '@reeve/kube'
import { applyChart, type OperatorChart } from './chart-objects.ts'
import type { SceneStage } from './scene.ts'

/** What gives an account its rights; the rest of a chart is for operators that run in the cluster. */
const ACCESS_KINDS = new Set(['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'])

/**
 * A client for the operator, to be closed by the caller.
 *
 * On a cluster of the demo's own it has the token of the ServiceAccount. On your cluster, where the demo should leave no
 * roles behind, and without helm to render the chart, it has your rights.
 *
 * @example
 * const client = await connectAsOperator(stage, { operator: 'webapp', release: 'webapp-operator', namespace }, signal)
 */
export async function connectAsOperator(
  { client, logger, kubeconfigPath, console: { requests } }: SceneStage,
  chart: OperatorChart,
  signal: AbortSignal,
): Promise<KubeClient> {
  const config = await loadConfig(kubeconfigPath === undefined ? {} : { kubeconfig: kubeconfigPath })
  const helm = kubeconfigPath === undefined ? undefined : await findClientBinary('helm')
  if (helm === undefined) {
    logger.warn({ operator: chart.operator }, 'the operator has the rights of the demo, not those of its chart')
    return createClient({ config, fieldManager: chart.release, onRequest: requests.count })
  }
  await applyChart(client, helm, chart, ({ kind }) => ACCESS_KINDS.has(kind), signal)
  const { account = chart.release } = chart
  const credentials = accountTokens(client, chart)
  return createClient({ config: { ...config, credentials }, fieldManager: account, onRequest: requests.count })
}

/** Tokens last for an hour; the demo may run for longer. */
function accountTokens(client: KubeClient, { release, namespace, account = release }: OperatorChart): CredentialSource {
  let current: Promise<Credentials> | undefined
  const request = async (): Promise<Credentials> => {
    const { status } = await client.raw<{ readonly status: { readonly token: string } }>({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    })
    return { authorization: `Bearer ${status.token}` }
  }
  return {
    get: () => {
      current ??= request()
      return current
    },
    renew: () => {
      current = request()
      return current
    },
  }
}
