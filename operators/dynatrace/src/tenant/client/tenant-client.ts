/** The client of one Dynatrace tenant: every call, on one set of connections. */
import {
  type ConfiguredProxy,
  DEFAULT_RETRY_POLICY,
  type OutboundClientOptions,
  openOutbound,
  proxyPasswords,
  SecretFilter,
  systemClock,
} from '@reeve/http'
import { silentLogger } from '@reeve/runtime'
import { CallExecutor } from './call-executor.ts'
import { ClassicApi } from './classic-api.ts'
import { ConnectionInfoCalls } from './connection-info.ts'
import { quotedErrorBytes, USER_AGENT } from './defaults.ts'
import { EnrichmentCalls } from './enrichment-rules.ts'
import { HostCalls } from './hosts.ts'
import { ImageCalls } from './images.ts'
import { InstallerCalls } from './installers.ts'
import { ProcessModuleCalls } from './process-module-config.ts'
import { SettingsCalls } from './settings.ts'
import { TokenCalls } from './tokens.ts'
import { VersionCalls } from './versions.ts'

/** Options of {@link createTenantClient}. */
export interface TenantClientOptions extends OutboundClientOptions {
  /** Such as `https://tenant.live.dynatrace.com/api`. */
  readonly apiUrl: string
  readonly apiToken: string
  /** @default the API token */
  readonly paasToken?: string
  /** The proxy of the DynaKube. @default what the environment variables of the process say */
  readonly proxy?: ConfiguredProxy
}

/** Every call of a tenant, by topic. */
export interface TenantClient extends AsyncDisposable {
  readonly tokens: TokenCalls
  readonly connectionInfo: ConnectionInfoCalls
  readonly versions: VersionCalls
  readonly images: ImageCalls
  readonly processModules: ProcessModuleCalls
  readonly installers: InstallerCalls
  readonly settings: SettingsCalls
  readonly enrichment: EnrichmentCalls
  readonly hosts: HostCalls
  /** Closes connections; calls in progress are cancelled. */
  close(): Promise<void>
}

/**
 * Creates a client. Nothing is sent before the first call.
 *
 * *Guarantees*: no error, log line or report contains a token. Reads are retried after transient failures,
 * writes only when the tenant cannot have processed them.
 *
 * *Errors*: calls reject with `TenantError` or `HttpError`, each with a stable `code`, or with the reason of the
 * caller's signal.
 *
 * @example
 * await using tenant = createTenantClient({ apiUrl, apiToken, logger })
 * const { tenantUuid, hosts } = await tenant.connectionInfo.oneAgent({ signal })
 */
export function createTenantClient(options: TenantClientOptions): TenantClient {
  const { apiUrl, apiToken, paasToken } = options
  const api = new ClassicApi(apiUrl, { api: apiToken, ...(paasToken !== undefined && { paas: paasToken }) })
  const sender = openOutbound({ userAgent: USER_AGENT, ...options })
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
