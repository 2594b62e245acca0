/** Converts one context of a kubeconfig to a {@link ClusterConfig}. */
import {
  type Clock,
  type CredentialSource,
  HttpConfigError,
  isProxyUrl,
  proxyFromEnvironment,
  type ServerTrust,
  type TextSource,
} from '@reeve/http'
import { DEFAULT_FILE_RELOAD_MS } from '../defaults.ts'
import { ConfigError } from '../errors.ts'
import type { Impersonation } from '../impersonation.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { basic, bearer, decodeBase64, fixedText, PlainCredentials } from './credentials.ts'
import { ExecCredentials } from './exec-plugin.ts'
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from './kubeconfig-document.ts'
import { ReloadingFile } from './reloading-file.ts'

/** Inputs besides the files. */
export interface ResolveOptions {
  /** Context to use instead of `current-context`. */
  readonly context?: string
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  readonly onProblem?: (error: Error) => void
}

/** The configuration of a context. */
export function resolveContext(config: Kubeconfig, options: ResolveOptions): ClusterConfig {
  const files = config.files.join(', ')
  const name = options.context ?? config.currentContext
  if (name === undefined) throw new ConfigError(`${files}: current-context is not set; set it or specify a context`)
  const context = config.contexts.get(name)
  if (context === undefined) {
    throw new ConfigError(`${files}: context "${name}" does not exist; there are: ${listed(config.contexts)}`)
  }
  const cluster = config.clusters.get(context.cluster ?? '')
  if (cluster === undefined) {
    throw new ConfigError(
      `${context.where}.cluster "${context.cluster ?? ''}" does not exist; there are: ${listed(config.clusters)}`,
    )
  }
  const user = config.users.get(context.user ?? '')
  if (user === undefined && context.user !== undefined) {
    throw new ConfigError(`${context.where}.user "${context.user}" does not exist; there are: ${listed(config.users)}`)
  }
  const server = serverUrl(cluster)
  const trust = serverTrust(cluster, options)
  const proxyUrl = cluster.proxyUrl ? checkedProxy(cluster) : environmentProxy(server, options.env)
  const credentials = user && credentialsOf(user, cluster, options)
  const impersonate = user && impersonation(user)
  return {
    server: server.href.replace(/\/+$/, ''),
    source: `context "${name}" of ${files}`,
    namespace: context.namespace ?? 'default',
    trust,
    ...(credentials && { credentials }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    ...(impersonate && { impersonate }),
    ...(cluster.disableCompression && { disableCompression: true }),
  }
}

function environmentProxy(server: URL, env: ResolveOptions['env']): string | undefined {
  try {
    return proxyFromEnvironment(server, env)
  } catch (error) {
    throw error instanceof HttpConfigError ? new ConfigError(error.message) : error
  }
}

function serverUrl(cluster: KubeconfigCluster): URL {
  if (cluster.server === undefined) throw new ConfigError(`${cluster.where}.server is missing`)
  const address = cluster.server.includes('://') ? cluster.server : `http://${cluster.server}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new ConfigError(`${cluster.where}.server is not an http or https address`)
  }
  return url
}

function serverTrust(cluster: KubeconfigCluster, options: ResolveOptions): ServerTrust {
  const { where } = cluster
  const certificateAuthority = text(
    cluster.certificateAuthorityData,
    `${where}.certificate-authority-data`,
    cluster.certificateAuthority,
    'certificate authority',
    options,
  )
  if (cluster.insecureSkipTlsVerify && certificateAuthority !== undefined) {
    throw new ConfigError(`${where} has both insecure-skip-tls-verify and a certificate authority; remove one`)
  }
  return {
    ...(certificateAuthority && { certificateAuthority }),
    ...(cluster.tlsServerName !== undefined && { serverName: cluster.tlsServerName }),
    ...(cluster.insecureSkipTlsVerify && { insecureSkipTlsVerify: true }),
  }
}

function credentialsOf(
  user: KubeconfigUser,
  cluster: KubeconfigCluster,
  options: ResolveOptions,
): CredentialSource | undefined {
  const { where } = user
  if (user.authProvider !== undefined) {
    throw new ConfigError(
      `${where}.auth-provider "${user.authProvider}" is not supported; use an exec plugin or a token`,
    )
  }
  const certificate = text(
    user.clientCertificateData,
    `${where}.client-certificate-data`,
    user.clientCertificate,
    'client certificate',
    options,
  )
  const key = text(user.clientKeyData, `${where}.client-key-data`, user.clientKey, 'client key', options)
  if ((certificate === undefined) !== (key === undefined)) {
    throw new ConfigError(`${where} needs both a client certificate and a client key, or neither`)
  }
  if (user.password !== undefined && user.username === undefined) {
    throw new ConfigError(`${where}.username is missing although there is a password`)
  }
  const tokenFile = user.tokenFile === undefined ? undefined : file(user.tokenFile, 'bearer token', options)
  const authorization = headerOf(user)
  const hasOwn = tokenFile !== undefined || authorization !== undefined
  // As in kubectl, credentials in the file take precedence over a plugin.
  if (user.exec !== undefined && !hasOwn && certificate === undefined) {
    return new ExecCredentials(user.exec, cluster, options)
  }
  if (!hasOwn && certificate === undefined) return undefined
  return new PlainCredentials({
    ...(authorization !== undefined && { authorization }),
    ...(tokenFile && { tokenFile }),
    ...(certificate && { certificate }),
    ...(key && { key }),
  })
}

function headerOf(user: KubeconfigUser): string | undefined {
  if (user.token !== undefined) return bearer(user.token)
  return user.username === undefined ? undefined : basic(user.username, user.password ?? '')
}

function impersonation(user: KubeconfigUser): Impersonation | undefined {
  const { as, asUid, asGroups, asUserExtra, where } = user
  if (as === undefined) {
    if (asUid === undefined && asGroups.length === 0 && Object.keys(asUserExtra).length === 0) return undefined
    throw new ConfigError(`${where}.as is missing: a user name is needed to impersonate groups, a uid or extra fields`)
  }
  return {
    user: as,
    groups: asGroups,
    extra: asUserExtra,
    ...(asUid !== undefined && { uid: asUid }),
  }
}

function text(
  data: string | undefined,
  where: string,
  path: string | undefined,
  what: string,
  options: ResolveOptions,
): TextSource | undefined {
  if (data !== undefined) return fixedText(decodeBase64(data, where))
  return path === undefined ? undefined : file(path, what, options)
}

function file(path: string, what: string, { clock, onProblem }: ResolveOptions): ReloadingFile {
  return new ReloadingFile(path, { clock, what, maxAgeMs: DEFAULT_FILE_RELOAD_MS, ...(onProblem && { onProblem }) })
}

function checkedProxy(cluster: KubeconfigCluster): string {
  const { proxyUrl = '', where } = cluster
  if (isProxyUrl(proxyUrl)) return proxyUrl
  throw new ConfigError(`${where}.proxy-url must be a URL with http://, https:// or socks5:// and a host`)
}

function listed(map: ReadonlyMap<string, unknown>): string {
  return map.size === 0 ? 'none' : [...map.keys()].join(', ')
}
