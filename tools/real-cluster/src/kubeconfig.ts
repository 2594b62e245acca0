/** Kubeconfig files, written for command-line tools and read by test processes. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse, stringify } from 'yaml'
import { RealClusterError } from './errors.ts'

/** How to reach an API server and with which credentials. All certificates and keys are PEM. */
export interface Connection {
  /** Such as `https://127.0.0.1:40001`. */
  readonly server: string
  /** Certificate of the authority that signed the server's certificate. */
  readonly ca: string
  /** Client certificate. */
  readonly cert?: string
  /** Key of the client certificate. */
  readonly key?: string
  /** Bearer token, instead of a client certificate. */
  readonly token?: string
}

/** A kubeconfig with one context that uses `connection`. */
export function renderKubeconfig(connection: Connection, name = 'reeve-real-cluster'): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: connection.server, 'certificate-authority-data': toBase64(connection.ca) } }],
    users: [
      {
        name,
        user: {
          'client-certificate-data': connection.cert && toBase64(connection.cert),
          'client-key-data': connection.key && toBase64(connection.key),
          token: connection.token,
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  })
}

/**
 * The current context of a kubeconfig.
 *
 * Assumptions: certificates or a token, in line or as files. Exec plugins are only supported by the loader in
 * `packages/kube`.
 */
export async function readKubeconfig(path: string): Promise<Connection> {
  const config: Kubeconfig = parse(await readFile(path, 'utf8'))
  const context = config.contexts?.find((entry) => entry.name === config['current-context'])?.context
  const cluster = config.clusters?.find((entry) => entry.name === context?.cluster)?.cluster
  const user = config.users?.find((entry) => entry.name === context?.user)?.user
  if (cluster?.server === undefined || user === undefined) {
    throw new RealClusterError(
      'REAL_CLUSTER_KUBECONFIG_INVALID',
      `The current context of ${path} has no cluster with a server, or no user.`,
    )
  }
  const pem = async (data: string | undefined, file: string | undefined): Promise<string | undefined> => {
    if (data !== undefined) return Buffer.from(data, 'base64').toString()
    return file === undefined ? undefined : readFile(resolve(dirname(path), file), 'utf8')
  }
  return {
    server: cluster.server,
    ca: (await pem(cluster['certificate-authority-data'], cluster['certificate-authority'])) ?? '',
    cert: await pem(user['client-certificate-data'], user['client-certificate']),
    key: await pem(user['client-key-data'], user['client-key']),
    token: user.token,
  }
}

interface Kubeconfig {
  readonly 'current-context'?: string
  readonly contexts?: readonly { name: string; context?: { cluster?: string; user?: string } }[]
  readonly clusters?: readonly {
    name: string
    cluster?: { server?: string; 'certificate-authority-data'?: string; 'certificate-authority'?: string }
  }[]
  readonly users?: readonly {
    name: string
    user?: {
      'client-certificate-data'?: string
      'client-certificate'?: string
      'client-key-data'?: string
      'client-key'?: string
      token?: string
    }
  }[]
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
