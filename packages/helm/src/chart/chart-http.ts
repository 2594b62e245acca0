/** Connects to chart sources by HTTPS, and turns failures into errors that name the chart. */
import {
  codeOf,
  environmentProxy,
  followRedirects,
  HttpConnectionError,
  HttpError,
  HttpRedirectError,
  HttpTooLargeError,
  Outbound,
  type OutboundRequest,
  readBody,
  type Sender,
} from '@reeve/http'
import { RegistryError, RegistryRefusedError, DigestMismatchError as WrongContentError } from '@reeve/oci'
import {
  ChartInvalidError,
  ChartNotFoundError,
  ChartRefusedError,
  ChartUnreachableError,
  DigestMismatchError,
} from '../errors.ts'
import type { ChartCredentials } from './chart-source.ts'

/** How a source is reached. */
export interface HttpAccess {
  readonly credentials?: ChartCredentials
  /** URLs with `http:` are rejected unless this is set. */
  readonly isPlainHttpAllowed: boolean
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What to get. */
export interface Download {
  /** The chart, for errors. */
  readonly what: string
  readonly url: URL
  readonly maxBytes: number
  /** Sent to the host of the address, and not on to another one that it redirects to. */
  readonly authorization?: string
  readonly signal: AbortSignal
}

/** Connections to one source; close them. Plain HTTP is rejected for redirects too. */
export function openSource(what: string, { credentials = {}, isPlainHttpAllowed, env }: HttpAccess): Sender {
  const { certificateAuthority, clientCertificate: certificate, clientKey: key } = credentials
  const outbound = new Outbound({
    userAgent: 'reeve-helm',
    proxy: environmentProxy(env),
    ...(certificateAuthority !== undefined && { certificateAuthority }),
    ...(certificate !== undefined && key !== undefined && { clientCertificate: { certificate, key } }),
  })
  return {
    async send(request: OutboundRequest) {
      const { protocol, host } = request.url
      const isAllowed = protocol === 'https:' || (protocol === 'http:' && isPlainHttpAllowed)
      if (!isAllowed) throw new ChartRefusedError(`${what}: ${protocol}//${host} is not https`)
      return outbound.send(request)
    },
    close: () => outbound.close(),
  }
}

/**
 * The bytes at an address.
 *
 * *Errors*: see {@link asChartError}.
 */
export async function download(sender: Sender, options: Download): Promise<Buffer> {
  const { what, url, maxBytes, authorization, signal } = options
  try {
    const headers = { ...(authorization !== undefined && { authorization }) }
    const request: OutboundRequest = { method: 'GET', url, headers, signal }
    const response = await followRedirects(sender, request, { authorizationFor: 'same-host' })
    if (response.status === 200) return await readBody(response, maxBytes)
    throw refusal(what, response.url.host, response.status)
  } catch (error) {
    signal.throwIfAborted()
    throw asChartError(what, error)
  }
}

/**
 * The error of a chart for one of the HTTP or registry client: not found, refused, invalid, another content, or
 * unreachable, the only case in which the cache is used. A TLS failure is none: whoever asks can cause it. Any other error is rethrown.
 */
export function asChartError(what: string, error: unknown): unknown {
  if (error instanceof RegistryRefusedError) return refusal(what, error.message, error.status, error)
  if (error instanceof WrongContentError) return new DigestMismatchError(what, { expected: error.expected })
  const isInvalid = error instanceof RegistryError || error instanceof HttpTooLargeError
  if (isInvalid || error instanceof HttpRedirectError) {
    return new ChartInvalidError(`${what}: ${error.message}`, { cause: error })
  }
  if (error instanceof HttpConnectionError && isTlsFailure(error)) {
    const remedy = 'check ca.crt, tls.crt and tls.key of the credentials, and the certificate of the server'
    return new ChartRefusedError(`${what}: ${error.message}; ${remedy}`, { cause: error })
  }
  return error instanceof HttpError ? new ChartUnreachableError(`${what}: ${error.message}`, { cause: error }) : error
}

/** Codes of Node.js for a certificate that is not trusted, one that is not accepted, and keys that cannot be used. */
const TLS_CODE =
  /^(ERR_(TLS|SSL|OSSL)|CERT_|CRL_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_|INVALID_|PATH_LENGTH|EPROTO$)/

/** Causes of an error that are considered. */
const MAX_CAUSES = 8

function isTlsFailure(error: Error): boolean {
  let cause: unknown = error
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    if (TLS_CODE.test(codeOf(cause) ?? '')) return true
    cause = cause.cause
  }
  return false
}

function refusal(what: string, who: string, status: number, cause?: Error): Error {
  const options = cause && { cause }
  const said = cause === undefined ? `${what}: ${who} responded with ${status}` : `${what}: ${who}`
  if ([401, 403, 407].includes(status)) return new ChartRefusedError(`${said}; check the credentials`, options)
  if ([404, 410].includes(status)) return new ChartNotFoundError(said, options)
  return new ChartUnreachableError(said, options)
}
