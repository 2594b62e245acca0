/** GET requests with only Node.js: an HTTP library would be most of the memory of the program. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { getCACertificates } from 'node:tls'
import { isProxyUrl, proxyFromEnvironment } from '@reeve/http/proxy'
import { redactSecrets } from '@reeve/http/redact'
import { DownloadError, inputError } from './bootstrap-error.ts'
import type { ClientConfig } from './client-config.ts'

/** Without a byte for so long a connection is considered lost. */
const IDLE_TIMEOUT_MS = 60_000
const MAX_REDIRECTS = 5
const MAX_ERROR_BYTES = 16 * 1024

/** A response with the status 200. */
export interface Body {
  readonly stream: AsyncIterable<Buffer>
  /** Absent if the server does not say. */
  readonly sizeBytes?: number
}

/** Errors of a connection that may not occur in the next attempt; wrong certificates and rejecting proxies are not. */
const TRANSIENT = /^(?:ECONN|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/

/**
 * Sends a GET request with the token of the tenant and follows redirects; the token is sent to the tenant only.
 *
 * *Errors*: {@link DownloadError}, `BOOTSTRAP_INPUT` for an unusable proxy; the reason of the signal. No message contains the token or the password of a proxy.
 *
 * @example
 * for await (const chunk of (await get(config, url, signal)).stream) await file.write(chunk)
 */
export async function get(config: ClientConfig, url: URL, signal: AbortSignal): Promise<Body> {
  let at = url
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await send(config, at, signal)
    const { statusCode = 0, headers } = response
    if (statusCode === 200) {
      const length = headers['content-length']
      return { stream: response, ...(length !== undefined && { sizeBytes: Number(length) }) }
    }
    const next = statusCode >= 301 && statusCode <= 308 ? URL.parse(headers.location ?? '', at.href) : null
    if (next === null) throw await statusError(config, at, response)
    response.resume()
    if (at.protocol === 'https:' && next.protocol !== 'https:') {
      throw new DownloadError(`${at.host} redirects to an address without TLS`)
    }
    at = next
  }
  throw new DownloadError(`${url.host} redirects more than ${MAX_REDIRECTS} times`)
}

function send(config: ClientConfig, url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const options: RequestOptions = {
    signal,
    timeout: IDLE_TIMEOUT_MS,
    headers: {
      'accept-encoding': 'identity',
      ...(url.origin === config.url.origin && { authorization: `Api-Token ${config.token}` }),
    },
  }
  const proxyEnv = proxySettings(config, url)
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, agent: new HttpsAgent({ ...trust(config), ...proxyEnv }) })
        : httpRequest(url, { ...options, agent: new HttpAgent(proxyEnv) })
    request.on('timeout', () => request.destroy(idleError()))
    request.on('response', resolve)
    request.on('error', (error) => reject(signal.aborted ? signal.reason : connectionError(config, url, error)))
    request.end()
  })
}

function idleError(): Error {
  return Object.assign(new Error(`no data for ${IDLE_TIMEOUT_MS / 1_000} seconds`), { code: 'ETIMEDOUT' })
}

function trust({ skipsCertificateCheck, trustedCertificates }: ClientConfig) {
  if (skipsCertificateCheck) return { rejectUnauthorized: false }
  return trustedCertificates === undefined ? {} : { ca: [...getCACertificates('default'), trustedCertificates] }
}

/** The proxy of the configuration, or else of the container env; none for hosts that are reached directly. */
function proxySettings({ proxy, noProxy }: ClientConfig, url: URL) {
  const address = proxy === '' || proxy.includes('://') ? proxy : `http://${proxy}`
  if (address !== '' && !isProxyUrl(address)) {
    throw inputError('dtclient.config: proxy is not a valid URL; write it as http://user:password@host:port')
  }
  const configured = { HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: noProxy }
  const chosen = proxyFromEnvironment(url, address === '' ? process.env : configured)
  if (chosen === undefined) return {}
  if (!/^https?:/.test(chosen)) throw inputError('dtclient.config: only http and https proxies are supported')
  return { proxyEnv: { HTTP_PROXY: chosen, HTTPS_PROXY: chosen } }
}

async function statusError(config: ClientConfig, url: URL, response: IncomingMessage): Promise<DownloadError> {
  const status = response.statusCode ?? 0
  let text = ''
  for await (const chunk of response) {
    text += String(chunk)
    if (text.length >= MAX_ERROR_BYTES) break
  }
  const said = serverMessage(text)
  const message = `${url.host} responded with status ${status}${said === '' ? '' : `: ${said}`}`
  return new DownloadError(clean(config, message), { isTransient: status === 429 || status >= 500 })
}

/** The message of the error body of a tenant, or how another body begins. */
function serverMessage(text: string): string {
  try {
    const { error } = JSON.parse(text)
    if (typeof error?.message === 'string') return error.message
  } catch {
    // Something between us and the tenant responded.
  }
  return text.slice(0, 200).trim()
}

function connectionError(config: ClientConfig, url: URL, error: Error): DownloadError {
  const code = 'code' in error ? String(error.code) : ''
  return new DownloadError(clean(config, `${url.host}: ${error.message}`), { isTransient: TRANSIENT.test(code) })
}

function clean({ token, proxy }: ClientConfig, text: string): string {
  const { username = '', password = '' } = URL.parse(proxy.includes('://') ? proxy : `http://${proxy}`) ?? {}
  return redactSecrets(text, [token, password, decodeURIComponent(password), username && proxy])
}
