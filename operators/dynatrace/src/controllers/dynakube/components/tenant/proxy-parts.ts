/** The address of a proxy, taken apart. */

/** The address of the proxy cannot be read. */
export class InvalidProxyError extends Error {
  readonly code = 'INVALID_PROXY'
  override readonly name = 'InvalidProxyError'

  /** @param where the field, and the Secret that it names */
  constructor(where = 'spec.proxy') {
    // The address may carry a password: it is not shown.
    super(
      `${where} is not the URL of a proxy, so nothing is sent; write it as http://user:password@host:port and ` +
        'percent-encode special characters of the password',
    )
  }
}

/** The pieces of an address; what it does not have is empty. */
export interface ProxyParts {
  readonly scheme: string
  readonly host: string
  readonly port: string
  readonly username: string
  readonly password: string
}

/**
 * Splits the address of a proxy; without a scheme it is http. Agents and gateways know no schemes but http and
 * https.
 *
 * *Errors*: {@link InvalidProxyError}, which does not show the address.
 *
 * @example
 * proxyParts('user:pass@proxy:3128') // { scheme: 'http', host: 'proxy', port: '3128', username: 'user', … }
 */
export function proxyParts(address: string): ProxyParts {
  const text = address.includes('://') ? address : `http://${address}`
  // The class `URL` drops a port that is the default of the scheme; here it matters whether it was given.
  const [, scheme = '', , user, bracketed, plain, port = ''] = ADDRESS.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || host === '' || !URL.canParse(text)) throw new InvalidProxyError()
  const at = user?.indexOf(':') ?? -1
  return {
    scheme: scheme.toLowerCase(),
    host,
    port,
    username: decode(at < 0 ? (user ?? '') : (user ?? '').slice(0, at)),
    password: decode(at < 0 ? '' : (user ?? '').slice(at + 1)),
  }
}

/** scheme, user information, host in brackets or plain, port. */
const ADDRESS = /^(https?):\/\/(([^/?#]*)@)?(?:\[([^\]]+)\]|([^:/?#]*))(?::(\d*))?(?:[/?#].*)?$/i

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A stray percent sign.
    throw new InvalidProxyError()
  }
}
