/** Kubeconfigs of ServiceAccounts. */
import { readFile } from 'node:fs/promises'
import type { KubeClient } from '@reeve/kube'
import { parse, stringify } from 'yaml'

/** How a pod with this account would reach the cluster that the kubeconfig is for. */
export async function tokenKubeconfig(
  path: string,
  admin: KubeClient,
  { namespace, account }: { readonly namespace: string; readonly account: string },
): Promise<string> {
  const { status } = await admin.raw<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })
  const config = parse(await readFile(path, 'utf8')) as { readonly users: readonly { readonly name: string }[] }
  return stringify({ ...config, users: config.users.map(({ name }) => ({ name, user: { token: status.token } })) })
}
