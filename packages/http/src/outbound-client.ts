/** What all clients that leave the cluster share: their options, and how connections are created from them. */
import type { ClientLogger } from './client-logger.ts'
import type { Clock } from './clock.ts'
import { HTTP_DEFAULTS, type RetryPolicy } from './defaults.ts'
import { Outbound, type Sender } from './outbound.ts'
import { type ConfiguredProxy, configuredProxy, environmentProxy, type ProxyChoice } from './proxy-choice.ts'
import type { RequestHook } from './request-report.ts'
import { usableCertificates } from './trusted-certificates.ts'

/** What every client that leaves the cluster may be given. */
export interface OutboundClientOptions {
  /** PEM bundle trusted besides the process's own authorities. @default none */
  readonly trustedCertificates?: string
  /** Accept any certificate. @default false */
  readonly skipCertificateCheck?: boolean
  /** Where `HTTPS_PROXY` and its relatives are read. @default the environment of the process */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** @default `DEFAULT_RETRY_POLICY` */
  readonly retries?: RetryPolicy
  /** @default `reeve` */
  readonly userAgent?: string
  readonly logger?: ClientLogger
  /** Called after every attempt, for metrics. */
  readonly onRequest?: RequestHook
  /** @default the clock of the machine */
  readonly clock?: Clock
  /** @default Math.random */
  readonly random?: () => number
  /** Sends the requests; proxy and certificates are then up to it. @default a pool of connections */
  readonly sender?: Sender
}

/** Where a proxy may come from. */
export interface ProxySources {
  /** The proxy of a resource. @default what the environment variables of the process say */
  readonly proxy?: ConfiguredProxy
  /** @default the environment of the process */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * The connections of a client that takes its proxy from a resource. Certificates that cannot be used are reported.
 *
 * *Errors*: `HttpConfigError` when the address of the proxy cannot be used.
 */
export function openOutbound(options: OutboundClientOptions & ProxySources): Sender {
  const { sender, logger, trustedCertificates = '' } = options
  if (sender !== undefined) return sender
  const certificates = usableCertificates(trustedCertificates)
  if (trustedCertificates !== '' && certificates.length === 0) {
    logger?.warn({}, 'no usable certificate among the trusted ones')
  }
  return new Outbound({
    proxy: chooseProxy(options),
    trustedCertificates: certificates,
    skipCertificateCheck: options.skipCertificateCheck ?? false,
    userAgent: options.userAgent ?? HTTP_DEFAULTS.userAgent,
  })
}

/** The passwords in all addresses of proxies that may be used, so that no message ever shows one. */
export function proxyPasswords({ proxy, env = process.env }: ProxySources): readonly string[] {
  const variables = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'].map((name) => env[name])
  return [proxy?.url, ...variables].flatMap((url) => passwordsIn(url ?? ''))
}

/** The password as written and as sent: alone, and with its user in the header for proxies. */
function passwordsIn(url: string): readonly string[] {
  const [, authority = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/?#]*)/i.exec(url) ?? []
  const [, user = '', password = ''] = /^([^:]*):(.*)@/s.exec(authority) ?? []
  if (password === '') return []
  return [password, decoded(password), `${decoded(user)}:${decoded(password)}`]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not encoded, then.
    return text
  }
}

/** The configured proxy, or that of the process environment. */
function chooseProxy({ proxy, env = process.env }: ProxySources): ProxyChoice {
  return proxy === undefined ? environmentProxy(env) : configuredProxy(proxy)
}
