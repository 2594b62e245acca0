/** Finds the configuration, in the usual order. */
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Clock, systemClock } from '@reeve/http'
import { ConfigError } from '../errors.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { inClusterConfig, isInCluster, SERVICE_ACCOUNT_DIRECTORY } from './in-cluster.ts'
import { readKubeconfigs } from './kubeconfig-merge.ts'
import { resolveContext } from './resolve-context.ts'

/** Where to search. */
export interface LoadConfigOptions {
  /** A kubeconfig that must exist; no other source is used. */
  readonly kubeconfig?: string
  /** Context to use instead of `current-context`. */
  readonly context?: string
  /** @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** @default the home directory of the user */
  readonly homeDirectory?: string
  /** @default the path where Kubernetes mounts it */
  readonly serviceAccountDirectory?: string
  /** @default the system clock */
  readonly clock?: Clock
  /** Called when a token or certificate file that was readable before no longer is; the last content stays in use. */
  readonly onProblem?: (error: Error) => void
}

/** See `loadConfig` of the package; this part is imported lazily. */
export async function findConfig(options: LoadConfigOptions = {}): Promise<ClusterConfig> {
  const { env = process.env, clock = systemClock, onProblem, context } = options
  const directory = options.serviceAccountDirectory ?? SERVICE_ACCOUNT_DIRECTORY
  const home = join(options.homeDirectory ?? homedir(), '.kube', 'config')
  const common = { clock, env, ...(onProblem && { onProblem }) }
  const resolveOptions = { ...common, ...(context !== undefined && { context }) }

  if (options.kubeconfig !== undefined) {
    const config = await readKubeconfigs([options.kubeconfig], { isOptional: false })
    if (config !== undefined) return resolveContext(config, resolveOptions)
  }
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '')
  if (listed.length > 0) {
    const config = await readKubeconfigs(listed, { isOptional: true })
    if (config !== undefined) return resolveContext(config, resolveOptions)
    throw new ConfigError(`KUBECONFIG names only files that do not exist: ${listed.join(', ')}`)
  }
  // An explicitly requested context cannot mean the service account.
  if (context === undefined && (await isInCluster({ env, directory }))) return inClusterConfig({ ...common, directory })
  const config = await readKubeconfigs([home], { isOptional: true })
  if (config !== undefined) return resolveContext(config, resolveOptions)
  throw new ConfigError(
    `no cluster configuration found: set KUBECONFIG, create ${home}, or run in a pod with a service account`,
  )
}
