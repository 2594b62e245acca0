/** Loads the configuration and creates a client. */
import type { ClusterConfig } from './config/cluster-config.ts'
import type { LoadConfigOptions } from './config/load-config.ts'
import { type ClientOptions, createClient, type DiscoveringClient } from './create-client.ts'

/**
 * Finds the cluster configuration, in this order: `options.kubeconfig`, the files of `KUBECONFIG`, the service account
 * of the pod, `~/.kube/config`.
 *
 * *Errors*: `ConfigError` names the file, the context and the field; `CredentialsError` the file or plugin that failed.
 *
 * @example
 * const config = await loadConfig({ context: 'staging' })
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<ClusterConfig> {
  // Imported lazily: a process that runs in a pod does not need a YAML parser.
  const { findConfig } = await import('./config/load-config.ts')
  return findConfig(options)
}

/**
 * Loads the configuration and creates a client for it.
 *
 * @example
 * const client = await connect({ fieldManager: 'webapp-operator' })
 */
export async function connect(options: LoadConfigOptions & ClientOptions = {}): Promise<DiscoveringClient> {
  const onProblem =
    options.onProblem ?? ((error: Error) => options.logger?.warn({ err: error.message }, 'using previous credentials'))
  return createClient({ ...options, config: await loadConfig({ ...options, onProblem }) })
}
