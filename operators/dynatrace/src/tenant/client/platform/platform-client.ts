/** The client of the Dynatrace platform, for EdgeConnects. */
import {
  environmentProxy,
  HttpConfigError,
  noProxy,
  Outbound,
  type OutboundClientOptions,
  proxyPasswords,
  SecretFilter,
  usableCertificates,
} from '@reeve/http'
import { isBareHost } from '@reeve/http/url-reference'
import { CallExecutor } from '../call-executor.ts'
import { USER_AGENT } from '../defaults.ts'
import { executorOptions } from '../tenant-client.ts'
import { AccessTokens, type OAuthClient } from './access-token.ts'
import { ConnectionSettingCalls } from './connection-settings.ts'
import { EdgeConnectCalls } from './edge-connects.ts'
import { PlatformApi } from './platform-api.ts'

const EDGE_CONNECT_SCOPES: readonly string[] = [
  'app-engine:edge-connects:read',
  'app-engine:edge-connects:write',
  'app-engine:edge-connects:delete',
  'oauth2:clients:manage',
]
const SETTINGS_SCOPES: readonly string[] = ['settings:objects:read', 'settings:objects:write']

/** Options of {@link createPlatformClient}. */
export interface PlatformClientOptions extends Omit<OutboundClientOptions, 'skipCertificateCheck'> {
  /** Host of the API, such as `tenant.apps.dynatrace.com`. */
  readonly apiServer: string
  readonly oauth: Omit<OAuthClient, 'scopes'>
  /** Whether Kubernetes automation is on, which needs more scopes. @default false */
  readonly hasKubernetesAutomation?: boolean
}

/** Every call of the platform, by topic. */
export interface PlatformClient extends AsyncDisposable {
  readonly edgeConnects: EdgeConnectCalls
  readonly connectionSettings: ConnectionSettingCalls
  /** Closes connections; calls in progress are cancelled. */
  close(): Promise<void>
}

/**
 * Creates a client. The API is contacted directly, the token endpoint through the proxy of the process if it has one.
 *
 * *Errors*: {@link HttpConfigError} when `apiServer` is not a host, or when certificates are given and none of them can be
 * used.
 *
 * @example
 * await using platform = createPlatformClient({ apiServer, oauth: { endpoint, clientId, clientSecret } })
 * const edgeConnect = await platform.edgeConnects.findByName('office', { signal })
 */
export function createPlatformClient(options: PlatformClientOptions): PlatformClient {
  const { apiServer, oauth, hasKubernetesAutomation = false, env = process.env } = options
  // Admission rejects it, but not for objects of earlier releases.
  if (!isBareHost(apiServer)) {
    const example = 'abc12345.apps.dynatrace.com'
    throw new HttpConfigError(`spec.apiServer: ${JSON.stringify(apiServer)} is not a host; write it like ${example}`)
  }
  const trustedCertificates = usableCertificates(options.trustedCertificates ?? '')
  if (options.trustedCertificates !== undefined && trustedCertificates.length === 0) {
    throw new HttpConfigError('no usable certificate among the trusted ones; use PEM')
  }
  const common = { trustedCertificates, userAgent: options.userAgent ?? USER_AGENT }
  const direct = options.sender ?? new Outbound({ ...common, proxy: noProxy })
  const proxied = options.sender ?? new Outbound({ ...common, proxy: environmentProxy(env) })
  const secrets = new SecretFilter(oauth.clientSecret, ...proxyPasswords({ env }))
  const forCalls = executorOptions(options)
  const scopes = hasKubernetesAutomation ? [...EDGE_CONNECT_SCOPES, ...SETTINGS_SCOPES] : EDGE_CONNECT_SCOPES
  const tokens = new AccessTokens(
    { ...oauth, scopes },
    new CallExecutor({ ...forCalls, sender: proxied, secrets }),
    secrets,
  )
  const api = new PlatformApi(apiServer, new CallExecutor({ ...forCalls, sender: direct, secrets }), tokens)
  const close = async () => {
    await Promise.all([direct.close(), proxied.close()])
  }
  return {
    edgeConnects: new EdgeConnectCalls(api),
    connectionSettings: new ConnectionSettingCalls(api),
    close,
    [Symbol.asyncDispose]: close,
  }
}
