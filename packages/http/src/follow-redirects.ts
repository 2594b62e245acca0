/** Follows redirects without handing a token to a host it was not meant for. */

import { HTTP_DEFAULTS } from './defaults.ts'
import { HttpRedirectError } from './http-error.ts'
import type { OutboundRequest, OutboundResponse, Sender } from './outbound.ts'
import { headerValue } from './response-headers.ts'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** A body beyond this costs more to read than a new connection. */
const MAX_DRAINED_BYTES = 64 * 1024

/** Options of {@link followRedirects}. */
export interface RedirectOptions {
  /** Who may see `authorization` besides the host itself. @default 'subdomains' */
  readonly authorizationFor?: 'subdomains' | 'same-host'
}

/**
 * Sends a request and follows redirects.
 *
 * *Guarantees*
 * - `authorization` is sent only to the same host or, unless `authorizationFor` is `same-host`, to a subdomain of it, and
 *   never from `https` to `http`.
 * - 301, 302 and 303 turn a POST into a GET without body; 307 and 308 repeat it. A body is never repeated to a host
 *   that would not get `authorization`: it may hold the same secret.
 *
 * *Errors*: {@link HttpRedirectError} for such a body, for a target that is not a web URL, and after ten redirects.
 *
 * @example
 * const response = await followRedirects(outbound, { method: 'GET', url, headers: { authorization } })
 */
export async function followRedirects(
  sender: Sender,
  first: OutboundRequest,
  { authorizationFor = 'subdomains' }: RedirectOptions = {},
): Promise<OutboundResponse> {
  let request = first
  for (let followed = 0; ; followed++) {
    const response = await sender.send(request)
    const location = headerValue(response.headers, 'location')
    if (!REDIRECTS.has(response.status) || location === undefined) return response
    await drain(response)
    if (followed === HTTP_DEFAULTS.maxRedirects) {
      throw new HttpRedirectError(`${first.url.host}: more than ${HTTP_DEFAULTS.maxRedirects} redirects`)
    }
    request = next(request, response.status, location, authorizationFor === 'subdomains')
  }
}

function next(request: OutboundRequest, status: number, location: string, trustsSubdomains: boolean): OutboundRequest {
  const from = request.url.host
  const url = URL.parse(location, request.url.href)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new HttpRedirectError(`${from}: redirects to something that is not an http or https URL`)
  }
  url.username = ''
  url.password = ''
  const isTrusted = staysWithin(request.url, url, trustsSubdomains)
  const { body, method, ...rest } = request
  const headers = isTrusted ? request.headers : without(request.headers, 'authorization')
  const becomesGet = status < 307 && method !== 'GET'
  if (becomesGet || body === undefined) {
    return { ...rest, url, method: becomesGet ? 'GET' : method, headers: without(headers, 'content-type') }
  }
  if (!isTrusted) throw new HttpRedirectError(`${from}: refused to repeat a request with a body to ${url.host}`)
  return { ...request, url, headers }
}

function staysWithin(from: URL, to: URL, trustsSubdomains: boolean): boolean {
  if (from.protocol === 'https:' && to.protocol !== 'https:') return false
  return to.host === from.host || (trustsSubdomains && to.hostname.endsWith(`.${from.hostname}`))
}

function without(headers: Readonly<Record<string, string>>, name: string): Record<string, string> {
  const { [name]: _, ...rest } = headers
  return rest
}

/** Reads a small body to its end, so that its connection can be reused; a large one is aborted. */
export async function drain(response: OutboundResponse): Promise<void> {
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > MAX_DRAINED_BYTES) return
  }
}
