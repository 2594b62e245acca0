/** The client of one Dynatrace environment: every call, on one set of connections. */
import { type Clock, systemClock } from '@reeve/kube'
import { type Logger, silentLogger } from '@reeve/runtime'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../http/defaults.ts'
import { Outbound, type Sender } from '../../http/outbound.ts'
import { type ConfiguredProxy, configuredProxy, environmentProxy, type ProxyChoice } from '../../http/proxy-choice.ts'
import { SecretFilter } from '../../http/secret-filter.ts'
import { usableCertificates } from '../../http/trusted-certificates.ts'
import { CallExecutor } from './call-executor.ts'
import { ClassicApi } from './classic-api.ts'
import { ConnectionInfoCalls } from './connection-info.ts'
import { ENVIRONMENT_DEFAULTS, quotedErrorBytes } from './defaults.ts'
import { EnrichmentCalls } from './enrichment-rules.ts'
import { HostCalls } from './hosts.ts'
import { ImageCalls } from './images.ts'
import { InstallerCalls } from './installers.ts'
import { ProcessModuleCalls } from './process-module-config.ts'
import type { RequestHook } from './request-report.ts'
import { SettingsCalls } from './settings.ts'
import { TokenCalls } from './tokens.ts'
import { VersionCalls } from './versions.ts'

/** What every client that leaves the cluster may be given. */
export interface OutboundClientOptions {
  /** PEM bundle trusted besides the process's own authorities. @default none */
  readonly trustedCertificates?: string
  /** Accept any certificate. @default false */
  readonly skipCertificateCheck?: boolean
  /** Where `HTTPS_PROXY` and its relatives are read. @default the environment of the process */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** @default {@link DEFAULT_RETRY_POLICY} */
  readonly retries?: RetryPolicy
  /** @default `dynatrace-operator` */
  readonly userAgent?: string
  readonly logger?: Logger
  /** Told of every try, for metrics. */
  readonly onRequest?: RequestHook
  /** @default the clock of the machine */
  readonly clock?: Clock
  /** @default Math.random */
  readonly random?: () => number
  /** What requests are sent with; proxy and certificates are then its own business. @default a pool of connections */
  readonly sender?: Sender
}

/** Options of {@link createEnvironmentClient}. */
export interface EnvironmentClientOptions extends OutboundClientOptions {
  /** Such as `https://tenant.live.dynatrace.com/api`. */
  readonly apiUrl: string
  readonly apiToken: string
  /** @default the API token */
  readonly paasToken?: string
  /** The proxy of the DynaKube. @default what the environment variables of the process say */
  readonly proxy?: ConfiguredProxy
}

/** Every call of an environment, by what it is about. */
export interface EnvironmentClient extends AsyncDisposable {
  readonly tokens: TokenCalls
  readonly connectionInfo: ConnectionInfoCalls
  readonly versions: VersionCalls
  readonly images: ImageCalls
  readonly processModules: ProcessModuleCalls
  readonly installers: InstallerCalls
  readonly settings: SettingsCalls
  readonly enrichment: EnrichmentCalls
  readonly hosts: HostCalls
  /** Closes connections; calls under way are cancelled. */
  close(): Promise<void>
}

/**
 * Makes a client. Nothing is sent before the first call.
 *
 * *Guarantees*: no error, log line or report holds a token. What only reads is tried again after failures that pass;
 * what changes something only when the environment cannot have processed it.
 *
 * *Errors*: calls reject with `EnvironmentError` or `HttpError`, each with a stable `code`, or with the reason of the
 * caller's signal.
 *
 * @example
 * await using environment = createEnvironmentClient({ apiUrl, apiToken, logger })
 * const { tenantUuid, hosts } = await environment.connectionInfo.oneAgent({ signal })
 */
export function createEnvironmentClient(options: EnvironmentClientOptions): EnvironmentClient {
  const { apiUrl, apiToken, paasToken, logger = silentLogger } = options
  const api = new ClassicApi(apiUrl, { api: apiToken, ...(paasToken !== undefined && { paas: paasToken }) })
  const certificates = usableCertificates(options.trustedCertificates ?? '')
  if (options.trustedCertificates && certificates.length === 0) {
    logger.warn({}, 'no usable certificate among the trusted ones')
  }
  const sender =
    options.sender ??
    new Outbound({
      proxy: chooseProxy(options, logger),
      trustedCertificates: certificates,
      skipCertificateCheck: options.skipCertificateCheck ?? false,
      userAgent: options.userAgent ?? ENVIRONMENT_DEFAULTS.userAgent,
    })
  const secrets = new SecretFilter(apiToken, paasToken, ...proxyPasswords(options))
  const executor = new CallExecutor({ ...executorOptions(options), sender, secrets })
  const versions = new VersionCalls(api, executor)
  return {
    tokens: new TokenCalls(api, executor),
    connectionInfo: new ConnectionInfoCalls(api, executor),
    versions,
    images: new ImageCalls(api, executor),
    processModules: new ProcessModuleCalls(api, executor),
    installers: new InstallerCalls(api, executor, versions),
    settings: new SettingsCalls(api, executor),
    enrichment: new EnrichmentCalls(api, executor),
    hosts: new HostCalls(api, executor),
    close: () => sender.close(),
    [Symbol.asyncDispose]: () => sender.close(),
  }
}

/** The parts of an executor that come straight from the options. */
export function executorOptions(options: OutboundClientOptions) {
  return {
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
    policy: options.retries ?? DEFAULT_RETRY_POLICY,
    quotedErrorBytes: quotedErrorBytes(options.env ?? process.env),
    ...(options.onRequest && { onRequest: options.onRequest }),
  }
}

/** The configured proxy, or the one of the process when there is none or its address cannot be used. */
export function chooseProxy(
  { proxy, env = process.env }: Pick<EnvironmentClientOptions, 'proxy' | 'env'>,
  logger: Logger,
): ProxyChoice {
  const configured = proxy && configuredProxy(proxy)
  if (proxy && configured === undefined) logger.warn({}, 'the address of the proxy cannot be used, going without it')
  return configured ?? environmentProxy(env)
}

/** The passwords in all addresses of proxies that may be used, so that no message ever shows one. */
export function proxyPasswords({
  proxy,
  env = process.env,
}: Pick<EnvironmentClientOptions, 'proxy' | 'env'>): readonly (string | undefined)[] {
  const variables = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'].map((name) => env[name])
  return [proxy?.url, ...variables].flatMap((url) => {
    const encoded = /:([^:@/]+)@/.exec(url ?? '')?.[1]
    if (encoded === undefined) return []
    return /%(?![0-9a-f]{2})/i.test(encoded) ? [encoded] : [encoded, decodeURIComponent(encoded)]
  })
}
