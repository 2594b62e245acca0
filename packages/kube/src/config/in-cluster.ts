/** The configuration that Kubernetes mounts into every pod. */
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@reeve/http'
import { DEFAULT_FILE_RELOAD_MS } from '../defaults.ts'
import { ConfigError } from '../errors.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { PlainCredentials } from './credentials.ts'
import { ReloadingFile } from './reloading-file.ts'

/** The path where Kubernetes mounts the service account. */
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Inputs of the configuration. */
export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly directory: string
  readonly clock: Clock
  readonly onProblem?: (error: Error) => void
}

/** Whether the process seems to run in a pod with a service account. */
export async function isInCluster({ env, directory }: Pick<InClusterOptions, 'env' | 'directory'>): Promise<boolean> {
  if (!env.KUBERNETES_SERVICE_HOST || !env.KUBERNETES_SERVICE_PORT) return false
  return access(join(directory, 'token')).then(
    () => true,
    () => false,
  )
}

/**
 * The configuration of the pod's service account. Token and CA are read again every minute, the token also after a 401.
 */
export async function inClusterConfig(options: InClusterOptions): Promise<ClusterConfig> {
  const { env, directory, clock, onProblem } = options
  const host = env.KUBERNETES_SERVICE_HOST
  const port = env.KUBERNETES_SERVICE_PORT
  if (!host || !port) {
    throw new ConfigError('not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set')
  }
  const file = (name: string, what: string) =>
    new ReloadingFile(join(directory, name), {
      clock,
      what,
      maxAgeMs: DEFAULT_FILE_RELOAD_MS,
      ...(onProblem && { onProblem }),
    })
  const tokenFile = file('token', 'service account token')
  const certificateAuthority = file('ca.crt', 'certificate authority')
  await Promise.all([tokenFile.read(), certificateAuthority.read()])
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    source: 'the service account of this pod',
    namespace: await namespaceOf(directory),
    trust: { certificateAuthority },
    credentials: new PlainCredentials({ tokenFile }),
    // Within a cluster compression costs the API server more time than the network saves.
    disableCompression: true,
  }
}

async function namespaceOf(directory: string): Promise<string> {
  try {
    return (await readFile(join(directory, 'namespace'), 'utf8')).trim() || 'default'
  } catch {
    // Projected volumes may omit the file; only defaults depend on it.
    return 'default'
  }
}
