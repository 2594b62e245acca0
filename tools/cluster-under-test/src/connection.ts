/** Reads how to reach a cluster from a kubeconfig made by this repository's own tools. */
import { parse } from 'yaml'
import type { Connection } from './raw-client.ts'

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  }[]
}

/** The only cluster and user of the file. */
export function connectionOf(kubeconfig: string): Connection {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig
  const cluster = clusters[0]?.cluster
  const user = users[0]?.user
  if (cluster === undefined || user === undefined) throw new Error('the kubeconfig names no cluster or no user')
  return {
    server: cluster.server,
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  }
}

function decode(data: string): string {
  return Buffer.from(data, 'base64').toString()
}
